// Before the first word: what is being waited for, and how far the prompt has been read.
import { currentLanguage, type Translate, useT } from '../i18n';
import { Ember } from '../parts/Ember';
import { percent, whole } from '../parts/format';
import { useApp } from '../state/app';
import type { LiveAnswer } from '../state/turnEvents';

export function AnswerWait({ live }: { live: LiveAnswer }) {
  const t = useT();
  const { reading } = live;
  // Short prompts are read before the eye could follow a bar.
  const bar =
    live.phase === 'reading' && reading && reading.total > 64 && reading.done < reading.total ? reading : undefined;
  return (
    <div className="wait" role="status">
      <Ember />
      <span className="num">{bar ? readingWords(t, bar) : <Stage live={live} />}</span>
      {bar && (
        <span className="wait-bar" aria-hidden>
          <span style={{ transform: `scaleX(${bar.total > 0 ? bar.done / bar.total : 0})` }} />
        </span>
      )}
    </div>
  );
}

function Stage({ live }: { live: LiveAnswer }) {
  const t = useT();
  const active = useApp((app) => app.state?.active);
  if (live.phase === 'loading') {
    const fraction = active?.state === 'loading' ? active.fraction : undefined;
    return (
      <>
        {t('thread.waitLoading')} {fraction !== undefined && percent(fraction, currentLanguage())}
      </>
    );
  }
  if (live.phase === 'queue')
    return live.ahead > 0 ? t('thread.waitQueue', { count: live.ahead }) : t('thread.waitNext');
  return t('thread.beginning');
}

function readingWords(t: Translate, reading: { done: number; total: number; cached: number }): string {
  const language = currentLanguage();
  const done = whole(reading.done, language);
  const total = whole(reading.total, language);
  if (reading.cached <= 0) return t('thread.reading', { done, total });
  return t('thread.readingCached', { done, total, cached: whole(reading.cached, language) });
}
