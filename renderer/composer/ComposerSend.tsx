// One round button: sends, or stops what is being written.
import { ArrowUp, Square } from 'lucide-react';
import { useT } from '../i18n';
import { stop } from '../state/actions';
import { useLive } from '../state/live';

export function ComposerSend({ turn, ready }: { turn: string | undefined; ready: boolean }) {
  const t = useT();
  const stopping = useLive((live) => turn !== undefined && live.stopping[turn] === true);
  if (turn === undefined) {
    return (
      <button
        type="submit"
        className="composer-send"
        disabled={!ready}
        aria-label={t('composer.send')}
        title={t('composer.send')}
      >
        <ArrowUp size={19} strokeWidth={2.25} aria-hidden />
      </button>
    );
  }
  const label = t(stopping ? 'composer.stopping' : 'composer.stop');
  return (
    <button
      type="button"
      className="composer-send composer-stop"
      disabled={stopping}
      aria-label={label}
      title={label}
      onClick={() => stop(turn)}
    >
      <Square size={13} fill="currentColor" strokeWidth={0} aria-hidden />
    </button>
  );
}
