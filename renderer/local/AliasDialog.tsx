// Another name for a model, by which programs may ask for it. An empty one takes it away.
import type { ModelEntry } from '@contract/own';
import { useState } from 'react';
import { useT } from '../i18n';
import { Dialog } from '../parts/Dialog';
import { attempt } from '../state/actions';
import { renameModel } from '../state/modelActions';

export function AliasDialog({ model, onClose }: { model: ModelEntry; onClose: () => void }) {
  const t = useT();
  const [alias, setAlias] = useState(model.aliases?.[0] ?? '');
  const save = (): void => {
    attempt(renameModel(model.name, alias.trim()));
    onClose();
  };
  return (
    <Dialog
      title={t('alias.title')}
      text={t('alias.text', { name: model.name })}
      onClose={onClose}
      buttons={
        <>
          <button type="button" className="button" onClick={onClose}>
            {t('common.cancel')}
          </button>
          <button type="button" className="button button-main" onClick={save}>
            {t('common.save')}
          </button>
        </>
      }
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
          onKeyDown={(event) => event.key === 'Enter' && !event.nativeEvent.isComposing && save()}
        />
      </label>
    </Dialog>
  );
}
