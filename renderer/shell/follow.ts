// Joins the state's stream to the caches: what another window, a program or the engine changed is fetched again.
import type { AppState } from '@contract/own';
import { toast } from 'sonner';
import { t } from '../i18n';
import { en } from '../i18n/en';
import { followState } from '../state/app';
import { currentPage } from '../state/page';
import { refresh } from '../state/queries';

export function beginFollowing(): void {
  followState((now, before) => {
    if (!before) return refresh.all();
    if (workChanged(now, before)) {
      refresh.chats();
      const { chatId } = currentPage();
      if (chatId) refresh.chat(chatId);
    }
    if (now.active?.state !== before.active?.state || now.active?.name !== before.active?.name) {
      refresh.models();
      sayFailedLoad(now, before);
    }
  });
}

const workChanged = (now: AppState, before: AppState): boolean =>
  now.running !== before.running || now.waiting !== before.waiting || now.requestsServed !== before.requestsServed;

function sayFailedLoad(now: AppState, before: AppState): void {
  const { active } = now;
  if (active?.state !== 'failed' || before.active?.state === 'failed') return;
  const code = active.error && `error.${active.error.code}` in en ? active.error.code : 'internal';
  toast.error(t('model.loadFailed', { name: active.name }), {
    description: t('common.sentences', { first: t(`error.${code}`), second: t(`remedy.${code}`) }),
    duration: 8000,
  });
}
