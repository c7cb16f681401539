// Joins the state's stream to the caches: what another window, a program or the engine changed is fetched again.
import type { ActiveModel, AppState } from '@contract/own';
import { toast } from 'sonner';
import { t } from '../i18n';
import { en } from '../i18n/en';
import { nowOf } from '../model/nowWords';
import { fileName } from '../downloads/downloadWords';
import { attempt } from '../state/actions';
import { followState } from '../state/app';
import { loadModel } from '../state/modelActions';
import { refreshModel } from '../state/modelQueries';
import { currentPage } from '../state/page';
import { refresh } from '../state/queries';

export function beginFollowing(): void {
  let lastReady: string | undefined;
  followState((now, before) => {
    const ready = now.active?.state === 'ready' ? now.active : undefined;
    if (before && ready) sayChange(ready, lastReady);
    lastReady = ready?.name ?? lastReady;
    if (!before) return refresh.all();
    if (workChanged(now, before)) {
      refresh.chats();
      const { chatId } = currentPage();
      if (chatId) refresh.chat(chatId);
    }
    if (modelsChanged(now, before)) {
      refresh.models();
      sayFailedLoad(now, before);
    }
    if (fetched(now) !== fetched(before)) {
      refresh.models();
      refreshModel.discover();
      refreshModel.folders();
      sayFetched(now, before);
    }
  });
}

const sign = ({ name, state, error }: ActiveModel): string => `${name} ${state} ${error?.code ?? ''}`;
const modelsChanged = (now: AppState, before: AppState): boolean =>
  [now.active, ...now.loaded].map((model) => model && sign(model)).join() !==
    [before.active, ...before.loaded].map((model) => model && sign(model)).join() ||
  now.modelsVersion !== before.modelsVersion ||
  now.failed?.at !== before.failed?.at ||
  now.swap?.to !== before.swap?.to ||
  now.previous !== before.previous;

const fetched = ({ downloads }: AppState): string =>
  downloads
    .filter(({ phase }) => phase === 'done')
    .map(({ id }) => id)
    .join();

const workChanged = (now: AppState, before: AppState): boolean =>
  now.running !== before.running || now.waiting !== before.waiting || now.requestsServed !== before.requestsServed;

/** A load that has failed, also where the model before goes on serving. */
function sayFailedLoad(now: AppState, before: AppState): void {
  const failure = nowOf(now);
  if (failure?.kind !== 'failed') return;
  if (now.failed ? now.failed.at === before.failed?.at : nowOf(before)?.kind === 'failed') return;
  const { name, error } = failure;
  const code = `error.${error.code}` in en ? error.code : 'internal';
  toast.error(t('model.loadFailed', { name }), {
    description: t('common.sentences', { first: t(`error.${code}`), second: t(`remedy.${code}`) }),
    duration: 8000,
  });
}

/** After a change one press leads back. A model that was started again is no change. */
function sayChange(active: ActiveModel, lastReady: string | undefined): void {
  if (lastReady === undefined || lastReady === active.name) return;
  toast(t('swap.done', { name: active.name }), {
    duration: 8000,
    action: { label: t('swap.back'), onClick: () => attempt(loadModel(lastReady)) },
  });
}

/** A download that has ended while this page looked on. */
function sayFetched(now: AppState, before: AppState): void {
  for (const { id, phase, file, model } of now.downloads) {
    const was = before.downloads.find((download) => download.id === id);
    if (phase !== 'done' || !was || was.phase === 'done') continue;
    toast(t('download.ready', { name: model ?? fileName(file) }), {
      duration: 8000,
      ...(model && { action: { label: t('models.load'), onClick: () => attempt(loadModel(model)) } }),
    });
  }
}
