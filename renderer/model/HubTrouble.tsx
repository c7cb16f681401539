// A failure of what reaches beyond this computer: the words, another try, and the way to the settings where those are the remedy.
import type { ErrorCode, ErrorShape } from '@contract/errors';
import { useT } from '../i18n';
import { ErrorNote } from '../parts/ErrorNote';
import { pageHref } from '../state/page';

interface Props {
  error: ErrorShape;
  /** What another try is called, and the try. */
  again: string;
  onAgain: () => void;
}

/** Without a token, a proxy or a network another try ends as this one did. */
const IN_SETTINGS: readonly ErrorCode[] = ['hub_denied', 'offline', 'hub_failed', 'unreachable'];

export function HubTrouble({ error, again, onAgain }: Props) {
  const t = useT();
  return (
    <ErrorNote error={error}>
      <span className="error-note-ways">
        <button type="button" className="button" onClick={onAgain}>
          {again}
        </button>
        {IN_SETTINGS.includes(error.code) && <a href={pageHref('settings', 'network')}>{t('network.open')}</a>}
      </span>
    </ErrorNote>
  );
}
