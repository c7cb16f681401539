// What is happening to the model in front, as data: a load, a swap that waits for an answer, a failure, a way back. Pure.
import type { ErrorShape } from '@contract/errors';
import type { ActiveModel, AppState } from '@contract/own';
import type { Language, Translate } from '../i18n';
import { span } from '../parts/format';

export type Now =
  | { kind: 'loading'; active: ActiveModel }
  | { kind: 'swap'; swap: NonNullable<AppState['swap']> }
  | { kind: 'failed'; name: string; error: ErrorShape }
  | { kind: 'back'; previous: string }
  | undefined;

/** A load that failed leaves the one before in front: the state names which it was. */
export function nowOf(state: AppState | undefined): Now {
  if (!state) return undefined;
  const { active, swap, previous, failed } = state;
  if (swap) return { kind: 'swap', swap };
  if (active?.state === 'loading') return { kind: 'loading', active };
  if (failed) return { kind: 'failed', name: failed.model, error: failed.error };
  if (active?.state === 'failed' && active.error) return { kind: 'failed', name: active.name, error: active.error };
  if (active?.state === 'ready' && previous && previous !== active.name) return { kind: 'back', previous };
  return undefined;
}

export function swapWords(t: Translate, swap: NonNullable<AppState['swap']>, language: Language): string {
  const { to, etaMs, runningOn } = swap;
  if (etaMs === undefined) return runningOn === undefined ? t('swap.now', { to }) : t('swap.after', { to });
  return runningOn === undefined
    ? t('swap.nowIn', { to, span: span(etaMs, language) })
    : t('swap.afterIn', { to, span: span(etaMs, language) });
}
