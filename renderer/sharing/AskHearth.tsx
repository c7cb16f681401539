// Asks for the address and key of another Hearth that shares its models, and has it asked what it offers.
import type { SharedModel } from '@contract/sharing';
import { useState } from 'react';
import { useT } from '../i18n';
import { FormDialog } from '../parts/FormDialog';
import { KeyField } from '../parts/KeyField';
import { modelsOfHearth } from '../state/modelActions';

export interface Shelf {
  url: string;
  models: SharedModel[];
}

interface Props {
  /** The address that was asked last. */
  before: string | undefined;
  onFound: (shelf: Shelf) => void;
  onClose: () => void;
}

const WRONG: Partial<Record<string, 'peer.wrongField' | 'peer.keyRefused' | 'peer.notShared'>> = {
  invalid_request: 'peer.wrongField',
  remote_key_refused: 'peer.keyRefused',
  remote_failed: 'peer.notShared',
};

export function AskHearth({ before = '', onFound, onClose }: Props) {
  const t = useT();
  const [fields, setFields] = useState({ url: before, key: '' });
  const url = fields.url.trim();
  const key = fields.key.trim();
  return (
    <FormDialog
      title={t('peer.title')}
      text={t('peer.askText')}
      action={t('peer.look')}
      sending={t('remote.testing')}
      ready={url !== ''}
      send={async () => onFound({ url, models: await modelsOfHearth({ url, ...(key && { key }) }) })}
      wrong={({ code }) => {
        const words = WRONG[code];
        return words && t(words);
      }}
      onClose={onClose}
    >
      <label className="dialog-field">
        <span>{t('share.url')}</span>
        <input
          className="field"
          value={fields.url}
          inputMode="url"
          spellCheck={false}
          placeholder="http://192.168.1.20:4327"
          onChange={(event) => setFields({ ...fields, url: event.target.value })}
        />
      </label>
      <KeyField
        label={t('share.key')}
        hint={t('peer.keyText')}
        value={fields.key}
        onChange={(value) => setFields({ ...fields, key: value })}
      />
    </FormDialog>
  );
}
