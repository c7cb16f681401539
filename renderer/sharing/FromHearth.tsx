// Models that another Hearth shares: asked for with its address and key, shown, and copied one by one.
import type { SharedModel } from '@contract/sharing';
import { MonitorDown } from 'lucide-react';
import { useState } from 'react';
import { currentLanguage, useT } from '../i18n';
import { DownloadLink } from '../downloads/DownloadLink';
import { bytes } from '../parts/format';
import '../settings/settings.css';
import { attempt } from '../state/actions';
import { useApp } from '../state/app';
import { copyFromHearth } from '../state/modelActions';
import { AskHearth, type Shelf } from './AskHearth';

export function FromHearth() {
  const t = useT();
  const [asking, setAsking] = useState(false);
  const [shelf, setShelf] = useState<Shelf>();
  return (
    <section className="section">
      <h2>{t('peer.title')}</h2>
      <p>{t('peer.text')}</p>
      {shelf && <Offered shelf={shelf} />}
      <div>
        <button type="button" className="button" onClick={() => setAsking(true)}>
          <MonitorDown size={15} aria-hidden />
          {t('peer.open')}
        </button>
      </div>
      {asking && <AskHearth before={shelf?.url} onFound={setShelf} onClose={() => setAsking(false)} />}
    </section>
  );
}

function Offered({ shelf: { url, models } }: { shelf: Shelf }) {
  const t = useT();
  if (models.length === 0) return <p>{t('peer.none', { url })}</p>;
  return (
    <>
      <h3>{t('peer.models', { url })}</h3>
      <ul className="card rows">
        {models.map((model) => (
          <OfferedModel key={model.id} url={url} model={model} />
        ))}
      </ul>
    </>
  );
}

function OfferedModel({ url, model }: { url: string; model: SharedModel }) {
  const t = useT();
  const [begun, setBegun] = useState<string>();
  const under = useApp((app) => app.state?.downloads.find(({ id }) => id === begun));
  const size = bytes(model.bytes, currentLanguage());
  const copy = async (): Promise<void> => setBegun(await copyFromHearth({ url, model: model.name }));
  return (
    <li className="place">
      <span className="place-words">
        <bdi>{model.name}</bdi>
        <span className="place-facts num">
          <span>{size}</span>
          {model.quantization && <span>{model.quantization}</span>}
          {model.licence && <span>{t('models.license', { license: model.licence })}</span>}
        </span>
        {!model.files && <span className="place-missing">{t('peer.hashing')}</span>}
      </span>
      {under ? (
        <DownloadLink download={under} />
      ) : (
        <button
          type="button"
          className="button"
          disabled={!model.files}
          aria-label={t('peer.copyNamed', { name: model.name, size })}
          onClick={() => attempt(copy())}
        >
          {t('peer.copy')}
        </button>
      )}
    </li>
  );
}
