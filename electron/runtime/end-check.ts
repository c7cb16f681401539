// The last word on a constrained answer: its end as it is told once the whole has been checked. It checks nothing itself.
import { HearthError } from '../contract/errors';
import type { GenerationEvent } from '../contract/runtime';

type EndEvent = Extract<GenerationEvent, { kind: 'end' }>;

/** `verdict`: what is wrong with the answer, or null. An answer that cannot be checked has failed, too. Never rejects. */
export async function checkedEnd(end: EndEvent, verdict: Promise<string | null>): Promise<EndEvent> {
  try {
    const wrong = await verdict;
    if (wrong === null) return end;
    return failed(end, new HearthError('unsupported_schema', `The answer is not what the schema asks for: ${wrong}.`));
  } catch (error) {
    return failed(end, HearthError.from(error));
  }
}

function failed(end: EndEvent, error: HearthError): EndEvent {
  return { ...end, reason: 'error', error: error.toShape() };
}
