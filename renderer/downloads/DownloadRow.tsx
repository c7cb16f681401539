// One download: which file, how far, what it is doing in words, and what can be done about it.
import type { Download } from '@contract/models';
import { Check, CircleAlert, Pause, Play, X } from 'lucide-react';
import { useState } from 'react';
import { currentLanguage, useT } from '../i18n';
import { HubTrouble } from '../model/HubTrouble';
import { ConfirmDialog } from '../parts/ConfirmDialog';
import { bytes, percent } from '../parts/format';
import { Progress } from '../parts/Progress';
import { attempt } from '../state/actions';
import { cancelDownload, loadModel, pauseDownload, resumeDownload } from '../state/modelActions';
import { amountOf, fileName, isActive, paceOf, phaseOf, shareOf } from './downloadWords';

export function DownloadRow({ download }: { download: Download }) {
  const t = useT();
  const language = currentLanguage();
  const { phase, source, error, restarted } = download;
  const facts = [amountOf(t, download, language), ...paceOf(t, download, language)];
  return (
    <li className="download" data-phase={phase}>
      <div className="download-head">
        <div className="download-name">
          <bdi>{fileName(download.file)}</bdi>
          <bdi className="download-repo">{source === 'disk' ? t('download.fromDisk') : download.repo}</bdi>
        </div>
        <Actions download={download} />
      </div>
      {phase !== 'done' && (
        <div className="download-bar">
          <Progress share={shareOf(download)} quiet={!isActive(download)} />
          <span className="num">{percent(shareOf(download), language)}</span>
        </div>
      )}
      <p className="download-facts num">
        <span className="download-phase">
          {phase === 'done' && <Check size={14} aria-hidden />}
          {phase === 'failed' && <CircleAlert size={14} aria-hidden />}
          {phaseOf(t, download, language)}
        </span>
        {phase === 'done' ? (
          <span>{bytes(download.totalBytes, language)}</span>
        ) : (
          facts.map((fact) => <span key={fact}>{fact}</span>)
        )}
      </p>
      {restarted && phase !== 'done' && <p className="download-again">{t('download.restarted')}</p>}
      {error && phase !== 'done' && (
        <HubTrouble error={error} again={t('download.goOn')} onAgain={() => attempt(resumeDownload(download.id))} />
      )}
    </li>
  );
}

function Actions({ download }: { download: Download }) {
  const t = useT();
  const [asking, setAsking] = useState(false);
  const { id, phase, model, error } = download;
  const name = fileName(download.file);
  const done = bytes(download.doneBytes, currentLanguage());
  if (phase === 'done') {
    return (
      <span className="download-actions">
        {model !== undefined && (
          <button type="button" className="button" onClick={() => attempt(loadModel(model))}>
            {t('models.load')}
          </button>
        )}
        <button
          type="button"
          className="icon-button"
          aria-label={t('download.forget', { name })}
          title={t('download.forgetShort')}
          onClick={() => attempt(cancelDownload(id))}
        >
          <X size={16} aria-hidden />
        </button>
      </span>
    );
  }
  const paused = phase === 'paused';
  return (
    <span className="download-actions">
      {!error && (
        <button
          type="button"
          className="icon-button"
          aria-label={t(paused ? 'download.resume' : 'download.pause', { name })}
          title={t(paused ? 'download.resumeShort' : 'download.pauseShort')}
          onClick={() => attempt(paused ? resumeDownload(id) : pauseDownload(id))}
        >
          {paused ? <Play size={16} aria-hidden /> : <Pause size={16} aria-hidden />}
        </button>
      )}
      <button
        type="button"
        className="icon-button"
        aria-label={t('download.cancel', { name })}
        title={t('download.cancelShort')}
        onClick={() => setAsking(true)}
      >
        <X size={16} aria-hidden />
      </button>
      {asking && (
        <ConfirmDialog
          title={t('download.cancelTitle', { name })}
          text={t('download.cancelText', { size: done })}
          action={t('download.cancelAction')}
          keep={t('download.keep')}
          onConfirm={() => attempt(cancelDownload(id))}
          onClose={() => setAsking(false)}
        />
      )}
    </span>
  );
}
