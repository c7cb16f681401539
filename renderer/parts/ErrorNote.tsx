// A failure in words: what happened, what was needed and what there was, what to do. The server's own sentence is one press away.
import type { ErrorShape } from '@contract/errors';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { currentLanguage, useT } from '../i18n';
import { en } from '../i18n/en';
import { bytes, whole } from './format';
import './errorNote.css';

export function ErrorNote({ error, children }: { error: ErrorShape; children?: ReactNode }) {
  const t = useT();
  const code = `error.${error.code}` in en ? error.code : 'internal';
  return (
    <div className="error-note">
      <TriangleAlert size={18} aria-hidden />
      <div className="error-note-words">
        <p className="error-note-what">
          {t(`error.${code}`)} <Amounts error={error} />
        </p>
        <p>{t(`remedy.${code}`)}</p>
        {error.message && (
          <details>
            <summary>{t('common.details')}</summary>
            <p className="error-note-detail" dir="auto">
              {error.message}
            </p>
          </details>
        )}
        {children}
      </div>
    </div>
  );
}

function Amounts({ error }: { error: ErrorShape }) {
  const t = useT();
  const language = currentLanguage();
  const { needed, available } = error;
  if (needed === undefined || available === undefined) return null;
  if (error.code === 'context_length_exceeded') {
    return t('thread.neededTokens', { needed: whole(needed, language), available: whole(available, language) });
  }
  if (error.code !== 'out_of_ram' && error.code !== 'out_of_vram') return null;
  return t('thread.needed', { needed: bytes(needed, language), available: bytes(available, language) });
}
