// The hub's token goes in and never comes out: the page only knows whether there is one.
import { useId, useState } from 'react';
import { useT } from '../i18n';

export function TokenField({ isSet, onSave }: { isSet: boolean; onSave: (token: string) => void }) {
  const t = useT();
  const id = useId();
  const [typed, setTyped] = useState('');
  const save = (): void => {
    if (!typed.trim()) return;
    onSave(typed.trim());
    setTyped('');
  };
  return (
    <div className="dialog-field">
      <label htmlFor={id}>{t('network.token')}</label>
      <div className="token-row">
        <input
          id={id}
          className="field"
          type="password"
          value={typed}
          autoComplete="off"
          spellCheck={false}
          placeholder={t(isSet ? 'network.tokenKept' : 'network.tokenNone')}
          onChange={(event) => setTyped(event.target.value)}
          onKeyDown={(event) => event.key === 'Enter' && save()}
        />
        <button type="button" className="button" disabled={!typed.trim()} onClick={save}>
          {t('common.save')}
        </button>
        {isSet && (
          <button type="button" className="button" onClick={() => onSave('')}>
            {t('network.tokenForget')}
          </button>
        )}
      </div>
      <small>{t('network.tokenText')}</small>
    </div>
  );
}
