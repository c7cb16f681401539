// How other programs reach the models: address, what to fill in, an example that works as it stands, and what is going on.
import type { AppState } from '@contract/own';
import { useState, type ReactNode } from 'react';
import { currentLanguage, useT } from '../i18n';
import { CodeBlock } from '../markdown/CodeBlock';
import '../markdown/markdown.css';
import { deviceFacts } from '../model/deviceWords';
import { CopyButton } from '../parts/CopyButton';
import { bytes, speed, whole } from '../parts/format';
import { Segmented } from '../parts/Segmented';
import { useApp } from '../state/app';
import { useModels } from '../state/queries';
import { EXAMPLES, type ExampleName, exampleCode } from './examples';
import './page.css';
import '../settings/settings.css';
import './serverPage.css';

export function ServerPage() {
  const t = useT();
  const state = useApp((app) => app.state);
  return (
    <div className="page">
      <div className="page-inner">
        <header className="page-head">
          <h1>{t('server.title')}</h1>
          <p>{t('server.text')}</p>
        </header>
        {state && <Connect state={state} />}
        {state && <Activity state={state} />}
        {state && <Machine state={state} />}
      </div>
    </div>
  );
}

function Connect({ state }: { state: AppState }) {
  const t = useT();
  const [example, setExample] = useState<ExampleName>('curl');
  const { data: models } = useModels();
  const base = `${state.url.replace(/\/$/, '')}/v1`;
  const model = state.active?.name ?? models?.find((candidate) => !candidate.error)?.name ?? t('server.noModel');
  const { language } = EXAMPLES.find((candidate) => candidate.value === example) ?? EXAMPLES[0];
  return (
    <section className="section">
      <h2>{t('server.connect')}</h2>
      <p>{t('common.sentences', { first: t('server.connectText'), second: t('server.local') })}</p>
      <dl className="card rows">
        <Field label={t('server.baseUrl')} copy={base}>
          <code className="mono">{base}</code>
        </Field>
        <Field label={t('server.key')} copy="hearth">
          {t('server.keyAny')}
        </Field>
        <Field label={t('server.model')} copy={model}>
          <code className="mono">{model}</code>
        </Field>
      </dl>
      <h3>{t('server.example')}</h3>
      <div>
        <Segmented label={t('server.example')} value={example} options={EXAMPLES} onChange={setExample} />
      </div>
      <CodeBlock code={exampleCode(example, base, model)} language={language} growing={false} />
    </section>
  );
}

function Field({ label, copy, children }: { label: string; copy: string; children: ReactNode }) {
  const t = useT();
  return (
    <div>
      <dt>{label}</dt>
      <dd>
        {children}
        <CopyButton text={copy} label={t('common.copyNamed', { name: label })} />
      </dd>
    </div>
  );
}

function Activity({ state }: { state: AppState }) {
  const t = useT();
  const language = currentLanguage();
  const rows: [string, string][] = [
    [t('server.served'), whole(state.requestsServed, language)],
    [t('server.running'), whole(state.running, language)],
    [t('server.waiting'), whole(state.waiting, language)],
  ];
  // Speeds are told once there are any.
  const rates: [string, number][] = [
    [t('server.decode'), state.decodeTps || state.lastDecodeTps],
    [t('server.prefill'), state.prefillTps],
  ];
  for (const [label, rate] of rates) {
    if (rate > 0) rows.push([label, t('status.speedNow', { speed: speed(rate, language) })]);
  }
  return (
    <section className="section">
      <h2>{t('server.activity')}</h2>
      <dl className="card stats num">
        {rows.map(([label, value]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}

function Machine({ state }: { state: AppState }) {
  const t = useT();
  const language = currentLanguage();
  const { version, engineBuild } = state;
  return (
    <section className="section">
      <h2>{t('server.devices')}</h2>
      {state.devices.length > 0 && (
        <dl className="card rows num">
          {state.devices.map((device) => (
            <div key={device.id}>
              <dt>{device.name}</dt>
              <dd>
                {device.cores > 0 && <span>{t('server.cores', { count: device.cores })},</span>}
                {device.graphics ? (
                  <span className="place-facts">
                    {deviceFacts(t, device, language).map((fact) => (
                      <span key={fact}>{fact}</span>
                    ))}
                  </span>
                ) : (
                  <span>{bytes(device.memoryTotal, language)}</span>
                )}
              </dd>
            </div>
          ))}
        </dl>
      )}
      <p>{engineBuild ? t('server.versions', { version, engine: engineBuild }) : t('server.version', { version })}</p>
    </section>
  );
}
