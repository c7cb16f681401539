// Whether each model that is here would fit now, as its recommended load would have it. The list does not wait long: a model whose header
// is still being looked at comes without, and with its fit the next time.
import type { Fit } from '../../contract/models';
import type { LibraryModel } from '../../library/types';
import { choicesOf } from '../../supervisor/fit';
import { refOf, type ServerContext } from '../context';

const WAIT_MS = 300;

type Asked = Pick<ServerContext, 'library' | 'supervisor'>;

async function fitNow({ supervisor }: Asked, model: LibraryModel): Promise<Fit | undefined> {
  const { plan, experience, room } = await supervisor.fitRoom(refOf(model));
  const { choices, recommended } = choicesOf(plan, room, experience);
  return choices.find(({ id }) => id === recommended)?.fit;
}

/** By name. What is elsewhere or broken has none. */
export async function modelFits(context: Asked): Promise<Map<string, Fit>> {
  const fits = new Map<string, Fit>();
  const here = context.library.list().filter(({ info, error, remote }) => info && !error && remote === undefined);
  const all = Promise.all(
    here.map(async (model) => {
      const fit = await fitNow(context, model).catch(() => undefined);
      if (fit) fits.set(model.name, fit);
    }),
  );
  await Promise.race([all, new Promise((resolve) => setTimeout(resolve, WAIT_MS).unref())]);
  // Those that come later are for the next list.
  return new Map(fits);
}
