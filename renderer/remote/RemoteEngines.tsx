// Other computers that serve models: which, whether they answer, and what they have. What is asked of them leaves this computer.
import type { RemoteEngine } from '@contract/models';
import { CircleCheck, CircleDashed, CircleX, LoaderCircle, Plus, Timer } from 'lucide-react';
import { useState } from 'react';
import { currentLanguage, type Translate, useT } from '../i18n';
import { HubTrouble } from '../model/HubTrouble';
import { Blank } from '../parts/Blank';
import { ConfirmDialog } from '../parts/ConfirmDialog';
import { milliseconds } from '../parts/format';
import { attempt } from '../state/actions';
import { checkEngine, removeEngine } from '../state/modelActions';
import { useEngines } from '../state/modelQueries';
import { AddEngine } from './AddEngine';
import './remote.css';

export function RemoteEngines() {
  const t = useT();
  const { data: engines = [], isSuccess } = useEngines();
  const [adding, setAdding] = useState(false);
  const add = (
    <button type="button" className="button button-main" onClick={() => setAdding(true)}>
      <Plus size={15} aria-hidden />
      {t('remote.add')}
    </button>
  );
  return (
    <section className="section">
      <h2>{t('remote.title')}</h2>
      <p>{t('remote.text')}</p>
      {isSuccess && engines.length === 0 && <Blank text={t('remote.none')}>{add}</Blank>}
      {engines.length > 0 && (
        <>
          <ul className="models">
            {engines.map((engine) => (
              <EngineCard key={engine.id} engine={engine} />
            ))}
          </ul>
          <div>{add}</div>
        </>
      )}
      {adding && <AddEngine onClose={() => setAdding(false)} />}
    </section>
  );
}

function EngineCard({ engine }: { engine: RemoteEngine }) {
  const t = useT();
  const [testing, setTesting] = useState(false);
  const [removing, setRemoving] = useState(false);
  const test = async (): Promise<void> => {
    setTesting(true);
    await checkEngine(engine.id).finally(() => setTesting(false));
  };
  return (
    <li className="card model">
      <div className="model-head">
        <div className="model-title">
          <h3>
            <bdi>{engine.name}</bdi>
          </h3>
          <Health engine={engine} testing={testing} />
        </div>
        <span className="model-use">
          {!engine.health.error && (
            <button type="button" className="button" disabled={testing} onClick={() => attempt(test())}>
              {t('remote.test')}
            </button>
          )}
          <button type="button" className="button" onClick={() => setRemoving(true)}>
            {t('remote.remove')}
          </button>
        </span>
      </div>
      <p className="remote-url">
        <bdi>{engine.url}</bdi>
        <span>{t(engine.hasKey ? 'remote.withKey' : 'remote.withoutKey')}</span>
      </p>
      {engine.health.error && !testing && (
        <HubTrouble error={engine.health.error} again={t('remote.test')} onAgain={() => attempt(test())} />
      )}
      {engine.models.length > 0 && (
        <ul className="remote-models" aria-label={t('remote.models')}>
          {engine.models.map((name) => (
            <li key={name}>
              <bdi>{name}</bdi>
            </li>
          ))}
        </ul>
      )}
      {removing && (
        <ConfirmDialog
          title={t('remote.removeTitle', { name: engine.name })}
          text={t('remote.removeText')}
          action={t('remote.remove')}
          onConfirm={() => attempt(removeEngine(engine.id))}
          onClose={() => setRemoving(false)}
        />
      )}
    </li>
  );
}

const SIGNS = { unknown: CircleDashed, ok: CircleCheck, slow: Timer, unreachable: CircleX, refused: CircleX } as const;

function Health({ engine, testing }: { engine: RemoteEngine; testing: boolean }) {
  const t = useT();
  const { state } = engine.health;
  const Sign = testing ? LoaderCircle : SIGNS[state];
  return (
    <span className="health num" data-state={testing ? 'unknown' : state} role="status">
      <Sign className={testing ? 'spin' : undefined} size={14} aria-hidden />
      {testing ? t('remote.testing') : healthWords(t, engine)}
    </span>
  );
}

function healthWords(t: Translate, { health: { state, latencyMs, error } }: RemoteEngine): string {
  if (error?.code === 'offline') return t('remote.health.offline');
  if ((state === 'ok' || state === 'slow') && latencyMs !== undefined) {
    return t(`remote.health.${state}In`, { time: milliseconds(latencyMs, currentLanguage()) });
  }
  return t(`remote.health.${state}`);
}
