// Where an answer is: waiting for a model, or with one; and how it is taken back from there.
import type { Answer } from './answer';
import type { Resident } from './resident';

export class AnswerPlace {
  resident: Resident | undefined;
  leave: (() => void) | undefined;

  constructor(readonly answer: Answer) {}

  cancel(): void {
    if (this.resident) this.resident.host.cancel(this.answer);
    else this.answer.end('cancelled');
    this.leave?.();
  }
}
