// Another name for a model, by which programs may ask for it. An empty one takes it away.
import type { ModelEntry } from '@contract/own';
import { useState } from 'react';
import { useT } from '../i18n';
import { FormDialog } from '../parts/FormDialog';
import { renameModel } from '../state/modelActions';

export function AliasDialog({ model, onClose }: { model: ModelEntry; onClose: () => void }) {
  const t = useT();
  const [alias, setAlias] = useState(model.aliases?.[0] ?? '');
  return (
    <FormDialog
      title={t('alias.title')}
      text={t('alias.text', { name: model.name })}
      action={t('common.save')}
      sending={t('common.save')}
      ready
      send={() => renameModel(model.name, alias.trim())}
      onClose={onClose}
    >
      <label className="dialog-field">
        <span>{t('alias.field')}</span>
        <input
          className="field"
          value={alias}
          maxLength={80}
          spellCheck={false}
          placeholder={t('alias.example')}
          onChange={(event) => setAlias(event.target.value)}
        />
      </label>
    </FormDialog>
  );
}
