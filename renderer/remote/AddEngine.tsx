// Asks for a remote engine's address and key, adds it, and asks it at once whether it answers.
import { useState } from 'react';
import type { ApiError } from '../api/client';
import { useT } from '../i18n';
import { FormDialog } from '../parts/FormDialog';
import { KeyField } from '../parts/KeyField';
import { addEngine } from '../state/modelActions';
import { engineRequest, sendsKeyInTheOpen } from './engineAddress';

/** What is wrong with a field is said of that field. */
const WRONG = { name: 'remote.nameWrong', url: 'remote.urlWrong', key: 'remote.keyWrong' } as const;
const isField = (param: string | undefined): param is keyof typeof WRONG => param !== undefined && param in WRONG;

export function AddEngine({ onClose }: { onClose: () => void }) {
  const t = useT();
  const [fields, setFields] = useState({ name: '', url: '', key: '' });
  const request = engineRequest(fields);
  return (
    <FormDialog
      title={t('remote.addTitle')}
      text={t('remote.addText')}
      action={t('remote.addAndTest')}
      sending={t('remote.testing')}
      ready={request !== undefined}
      send={async () => request && addEngine(request)}
      wrong={({ shape: { param } }: ApiError) => (isField(param) ? t(WRONG[param]) : undefined)}
      onClose={onClose}
    >
      <label className="dialog-field">
        <span>{t('remote.url')}</span>
        <input
          className="field"
          value={fields.url}
          inputMode="url"
          spellCheck={false}
          placeholder="http://192.168.1.20:8000/v1"
          onChange={(event) => setFields({ ...fields, url: event.target.value })}
        />
      </label>
      <label className="dialog-field">
        <span>{t('remote.name')}</span>
        <input
          className="field"
          value={fields.name}
          maxLength={60}
          placeholder={request?.name ?? t('remote.nameExample')}
          onChange={(event) => setFields({ ...fields, name: event.target.value })}
        />
      </label>
      <KeyField
        label={t('remote.key')}
        hint={t(sendsKeyInTheOpen(fields) ? 'remote.keyOpen' : 'remote.keyText')}
        value={fields.key}
        onChange={(key) => setFields({ ...fields, key })}
      />
    </FormDialog>
  );
}
