// What can be done with a file of the hub: fetch it, see how its download goes, or use it where it is here already.
import type { Download, HubFile, HubModel } from '@contract/models';
import { Check, Download as Fetch } from 'lucide-react';
import { currentLanguage, useT } from '../i18n';
import { DownloadLink } from '../downloads/DownloadLink';
import { bytes } from '../parts/format';
import { attempt } from '../state/actions';
import { useApp } from '../state/app';
import { loadModel, startDownload } from '../state/modelActions';

interface Props {
  model: HubModel;
  file: HubFile;
  main?: boolean;
}

const NONE: readonly Download[] = [];

export function HubFileAction({ model, file, main }: Props) {
  const t = useT();
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
  if (under) return <DownloadLink download={under} />;
  const size = bytes(file.bytes, currentLanguage());
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
