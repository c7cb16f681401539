// Three things that the loaded model can really do. Pressing one sends it.
import { useState } from 'react';
import { useT, type Key } from '../i18n';
import { attempt, send } from '../state/actions';
import { useApp } from '../state/app';
import { useModels } from '../state/queries';

const STARTER = [
  'suggest.starter.hello',
  'suggest.starter.what',
  'suggest.starter.story',
] as const satisfies readonly Key[];
const GENERAL = [
  'suggest.general.explain',
  'suggest.general.mail',
  'suggest.general.names',
] as const satisfies readonly Key[];

export function Suggestions() {
  const t = useT();
  const name = useApp((app) => app.state?.active?.name);
  const { data: models } = useModels();
  const [busy, setBusy] = useState(false);
  const press = (text: string): void => {
    setBusy(true);
    attempt(send(undefined, text).finally(() => setBusy(false)));
  };
  const model = models?.find((candidate) => candidate.name === name);
  // Without a model the first message loads the one that comes with Hearth.
  const builtin = model ? model.builtin : name === undefined;
  return (
    <ul className="suggestions" aria-label={t('suggest.label')}>
      {(builtin ? STARTER : GENERAL).map((key) => (
        <li key={key}>
          <button type="button" disabled={busy} onClick={() => press(t(key))}>
            {t(key)}
          </button>
        </li>
      ))}
    </ul>
  );
}
