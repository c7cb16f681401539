// How a download goes, in one line where it was begun: the way to all downloads.
import type { Download } from '@contract/models';
import { currentLanguage, useT } from '../i18n';
import { percent } from '../parts/format';
import { Progress } from '../parts/Progress';
import { pageHref } from '../state/page';
import { phaseOf, shareOf } from './downloadWords';
import './downloads.css';

export function DownloadLink({ download }: { download: Download }) {
  const t = useT();
  const language = currentLanguage();
  const share = shareOf(download);
  const phase = phaseOf(t, download, language);
  return (
    <a className="download-link num" href={pageHref('models', 'downloads')}>
      <span>
        {download.phase === 'done' ? phase : t('download.under', { phase, percent: percent(share, language) })}
      </span>
      <Progress share={share} quiet={download.phase === 'paused'} />
    </a>
  );
}
