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

/** `lastLoad`: the model that was asked for last. A load that failed leaves the one before in front, with the reason. */
export function nowOf(state: AppState | undefined, lastLoad?: string): Now {
  if (!state) return undefined;
  const { active, swap, previous } = state;
  if (swap) return { kind: 'swap', swap };
  if (active?.state === 'loading') return { kind: 'loading', active };
  if (active?.error && (active.state === 'failed' || active.state === 'ready')) {
    return {
      kind: 'failed',
      name: active.state === 'failed' ? active.name : (lastLoad ?? active.name),
      error: active.error,
    };
  }
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
