// The door of the small text tools of the runtime.
export type { OutputParser, OutputResult, Place } from './output';
export { StopMatcher, type StopResult } from './stop';
