// The door of the small text tools of the runtime.
export { StopMatcher, type StopResult } from './stop';
