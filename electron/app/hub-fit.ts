// Whether a file of the hub would fit this machine, and how fast it would write: what is known of its family, of models of that family
// that are here, of the memory that is free, and of how fast models really went. It asks; supervisor/estimate.ts reckons.
import type { Fit } from '../contract/models';
import type { MemoryPlan } from '../contract/runtime';
import type { FitQuestion } from '../library/hub/discover';
import { bitsOf } from '../library/hub/quality';
import type { Library, LibraryModel } from '../library/types';
import { estimatedPlan, fitOfFile, paceOf, repacked, type Pace } from '../supervisor/estimate';
import { fitOf, type Experience, type Room } from '../supervisor/fit';
import type { Supervisor } from '../supervisor/types';

export interface HubFitOptions {
  supervisor: Pick<Supervisor, 'known' | 'room' | 'roomFor'>;
  library: Pick<Library, 'list'>;
}

/** Smaller ones are bound by other things than the memory's speed. */
const TELLING_BYTES = 300e6;
/** Models whose speed is looked at: each is a look at a header, once. */
const MOST_PACES = 8;
/** One model packed in another way has about as many parameters; a file of the same length is the same. */
const SAME_PARAMETERS = 0.02;
const SAME_BYTES = 0.001;

const speedOn = ({ readBytesPerSecond }: Room): Experience => (readBytesPerSecond ? { readBytesPerSecond } : {});

const isAbout = (one: number, two: number, share: number) => Math.abs(one - two) <= share * Math.max(one, two);

export function hubFits({ supervisor, library }: HubFitOptions): (question: FitQuestion) => Promise<Fit | undefined> {
  const known = ({ name, path }: LibraryModel) => supervisor.known({ name, path }).catch(() => undefined);
  const here = () => library.list().filter(({ info, error, remote }) => info && !error && remote === undefined);

  /** The same model, packed in whatever way. */
  const sibling = ({ architecture, bytes }: FitQuestion, parameters: number): LibraryModel | undefined => {
    const same = here().filter(
      ({ info }) => info?.architecture === architecture && isAbout(info?.parameters ?? 0, parameters, SAME_PARAMETERS),
    );
    return same.find((model) => isAbout(model.fileBytes, bytes, SAME_BYTES)) ?? same[0];
  };

  const pace = async (readBytesPerSecond: number, room: Awaited<ReturnType<Supervisor['room']>>): Promise<number> => {
    const used = here().filter(({ decodeTps, fileBytes }) => decodeTps !== undefined && fileBytes >= TELLING_BYTES);
    const paces = await Promise.all(
      used.slice(0, MOST_PACES).map(async (model): Promise<Pace[]> => {
        const plan = (await known(model))?.plan;
        const loaded = { ...room, freeBytes: room.totalBytes };
        const fit = plan && fitOf(plan, { context: 2048, kvType: 'f16' }, loaded, { readBytesPerSecond });
        return fit?.decodeTps === undefined ? [] : [{ measuredTps: model.decodeTps ?? 0, expectedTps: fit.decodeTps }];
      }),
    );
    return paceOf(paces.flat());
  };

  return async (question) => {
    const { bytes, quantization } = question;
    const parameters = question.parameters ?? (bytes * 8) / bitsOf(quantization);
    const room = await supervisor.room();
    const { readBytesPerSecond } = room;
    const bandwidth = readBytesPerSecond && {
      readBytesPerSecond: readBytesPerSecond * (await pace(readBytesPerSecond, room)),
    };
    // A card's speed is its own: nothing of the processor's is known of it.
    const on = async (plan: MemoryPlan, seen: Experience, decodes = true): Promise<Fit> => {
      const there = await supervisor.roomFor(plan);
      if (there.gpu) return fitOfFile(plan, there, decodes ? speedOn(there) : {});
      return fitOfFile(plan, room, { ...(decodes && bandwidth), ...seen });
    };
    const like = sibling(question, parameters);
    const seen = like && (await known(like));
    if (!like || !seen) {
      const { plan, decodes } = estimatedPlan({ ...question, parameters });
      return on(plan, {}, decodes);
    }
    const { heldBytes } = seen.experience;
    const decodeTps = isAbout(like.fileBytes, bytes, SAME_BYTES)
      ? (seen.experience.decodeTps ?? like.decodeTps)
      : undefined;
    return on(repacked(seen.plan, bytes), {
      ...(heldBytes !== undefined && { heldBytes }),
      ...(decodeTps !== undefined && { decodeTps }),
    });
  };
}
