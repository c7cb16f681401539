// What models in memory really take, looked at while they run and told to what is known of them.
import { seenIn, subjectOf, type Knowledge, type Seen } from './knowledge';
import type { Resident } from './resident';
import { subjectDevice } from './terms';

export class Looks {
  private readonly seen = new Map<Resident, Seen>();

  constructor(private readonly knowledge: Pick<Knowledge, 'see'>) {}

  async look(resident: Resident): Promise<void> {
    if (resident.host.state !== 'ready') return;
    try {
      resident.stats = await resident.host.stats();
    } catch {
      return; // it died or is closing: its exit is handled where it is known
    }
    if (!resident.terms) return;
    const { plan, gpu } = resident.terms;
    const seen = seenIn(resident.stats, plan.kv.prefillRows, this.seen.get(resident), gpu?.type === 'software');
    this.seen.set(resident, seen);
    this.knowledge.see(subjectOf(plan, subjectDevice(resident.terms)), seen);
  }

  /** It ends, or goes elsewhere. */
  forget(resident: Resident): void {
    this.seen.delete(resident);
  }
}
