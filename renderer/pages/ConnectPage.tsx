// Shown to a window that does not know the key: what is missing and how to give it.
import { useState } from 'react';
import { rememberToken, tokenFromText } from '../api/token';
import { useT } from '../i18n';
import { Mark } from '../parts/Mark';
import './page.css';
import './connectPage.css';

export function ConnectPage({ refused }: { refused: boolean }) {
  const t = useT();
  const [text, setText] = useState('');
  const key = tokenFromText(text);
  return (
    <main className="connect">
      <form
        onSubmit={(event) => {
          event.preventDefault();
          if (!key) return;
          rememberToken(key);
          location.reload();
        }}
      >
        <Mark size={40} />
        <h1>{t('connect.title')}</h1>
        <p>{t('connect.text')}</p>
        {refused && (
          <p className="connect-refused" role="alert">
            {t('common.sentences', { first: t('error.invalid_api_key'), second: t('remedy.invalid_api_key') })}
          </p>
        )}
        <label className="connect-field">
          <span>{t('connect.field')}</span>
          <input
            className="field"
            value={text}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <button type="submit" className="button button-main" disabled={!key}>
          {t('connect.open')}
        </button>
      </form>
    </main>
  );
}
