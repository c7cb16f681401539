// Asks for a remote engine's address and key, adds it, and asks it at once whether it answers.
import { useState, type FormEvent } from 'react';
import { ApiError } from '../api/client';
import { useT } from '../i18n';
import { Dialog } from '../parts/Dialog';
import { ErrorNote } from '../parts/ErrorNote';
import { Field } from '../parts/Field';
import { addEngine } from '../state/modelActions';
import { engineRequest, sendsKeyInTheOpen } from './engineAddress';

export function AddEngine({ onClose }: { onClose: () => void }) {
  const t = useT();
  const [fields, setFields] = useState({ name: '', url: '', key: '' });
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const request = engineRequest(fields);
  const add = async (): Promise<void> => {
    if (!request) return;
    setBusy(true);
    setError(undefined);
    try {
      await addEngine(request);
      onClose();
    } catch (failure) {
      setBusy(false);
      setError(failure instanceof ApiError ? failure : undefined);
    }
  };
  const set = (name: keyof typeof fields) => (event: FormEvent<HTMLInputElement>) =>
    setFields({ ...fields, [name]: event.currentTarget.value });
  return (
    <Dialog
      title={t('remote.addTitle')}
      text={t('remote.addText')}
      onClose={onClose}
      buttons={
        <>
          <button type="button" className="button" onClick={onClose}>
            {t('common.cancel')}
          </button>
          <button type="submit" form="add-engine" className="button button-main" disabled={!request || busy}>
            {t(busy ? 'remote.testing' : 'remote.addAndTest')}
          </button>
        </>
      }
    >
      <form
        id="add-engine"
        className="remote-form"
        onSubmit={(event) => {
          event.preventDefault();
          void add();
        }}
      >
        <label className="dialog-field">
          <span>{t('remote.url')}</span>
          <input
            className="field"
            value={fields.url}
            inputMode="url"
            spellCheck={false}
            placeholder="http://192.168.1.20:8000/v1"
            onInput={set('url')}
          />
        </label>
        <label className="dialog-field">
          <span>{t('remote.name')}</span>
          <input
            className="field"
            value={fields.name}
            maxLength={60}
            placeholder={request?.name ?? t('remote.nameExample')}
            onInput={set('name')}
          />
        </label>
        <Field label={t('remote.key')} hint={t(sendsKeyInTheOpen(fields) ? 'remote.keyOpen' : 'remote.keyText')}>
          {(hint) => (
            <input
              className="field"
              type="password"
              value={fields.key}
              autoComplete="off"
              spellCheck={false}
              aria-describedby={hint}
              onInput={set('key')}
            />
          )}
        </Field>
      </form>
      {error && <Refused error={error} />}
    </Dialog>
  );
}

const WRONG = { name: 'remote.nameWrong', url: 'remote.urlWrong', key: 'remote.keyWrong' } as const;
const isField = (param: string | undefined): param is keyof typeof WRONG => param !== undefined && param in WRONG;

/** What is wrong with a field is said of that field. */
function Refused({ error: { shape } }: { error: ApiError }) {
  const t = useT();
  if (!isField(shape.param)) return <ErrorNote error={shape} />;
  return (
    <p className="path-wrong" role="alert">
      {t(WRONG[shape.param])}
    </p>
  );
}
