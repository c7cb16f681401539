// What can be done with a file of the hub: fetch it, see how its download goes, or use it where it is here already.
import type { Download, HubFile, HubModel } from '@contract/models';
import { Check, Download as Fetch } from 'lucide-react';
import { currentLanguage, useT } from '../i18n';
import { phaseOf, shareOf } from '../downloads/downloadWords';
import { bytes, percent } from '../parts/format';
import { Progress } from '../parts/Progress';
import { attempt } from '../state/actions';
import { useApp } from '../state/app';
import { loadModel, startDownload } from '../state/modelActions';
import { pageHref } from '../state/page';

interface Props {
  model: HubModel;
  file: HubFile;
  main?: boolean;
}

const NONE: readonly Download[] = [];

export function HubFileAction({ model, file, main }: Props) {
  const t = useT();
  const language = currentLanguage();
  const downloads = useApp((app) => app.state?.downloads ?? NONE);
  const under = downloads.find((one) => one.repo === model.repo && one.file === file.path && one.phase !== 'done');
  const { local } = file;
  if (local !== undefined) {
    return (
      <span className="hub-action">
        <span className="model-ready">
          <Check size={15} aria-hidden />
          {t('discover.here')}
        </span>
        <button type="button" className="button" onClick={() => attempt(loadModel(local))}>
          {t('models.load')}
        </button>
      </span>
    );
  }
  if (under) {
    return (
      <a className="hub-action hub-under num" href={pageHref('models', 'downloads')}>
        <span>
          {t('download.under', { phase: phaseOf(t, under, language), percent: percent(shareOf(under), language) })}
        </span>
        <Progress share={shareOf(under)} quiet={under.phase === 'paused'} />
      </a>
    );
  }
  const size = bytes(file.bytes, language);
  return (
    <button
      type="button"
      // What does not fit is not what we point at.
      className={main && file.fit?.verdict !== 'too_big' ? 'button button-main' : 'button'}
      aria-label={t('discover.fetchNamed', { name: model.title, quantization: file.quantization, size })}
      onClick={() => attempt(startDownload({ repo: model.repo, file: file.path }))}
    >
      <Fetch size={15} aria-hidden />
      {t('discover.fetch', { size })}
    </button>
  );
}
