// A failure in words: what happened, what was needed and what there was, what to do. The server's own sentence is one press away.
import type { ErrorShape } from '@contract/errors';
import { TriangleAlert } from 'lucide-react';
import type { ReactNode } from 'react';
import { currentLanguage, type Translate, useT } from '../i18n';
import { en } from '../i18n/en';
import { bytes, whole } from './format';
import './errorNote.css';

interface Props {
  error: ErrorShape;
  /** What it was that failed, where the place does not say it. */
  title?: string;
  children?: ReactNode;
}

export function ErrorNote({ error, title, children }: Props) {
  const t = useT();
  const code = `error.${error.code}` in en ? error.code : 'internal';
  const what = t(`error.${code}`);
  const amounts = amountWords(t, error);
  return (
    <div className="error-note">
      <TriangleAlert size={18} aria-hidden />
      <div className="error-note-words">
        {title !== undefined && <p className="error-note-what">{title}</p>}
        <p className={title === undefined ? 'error-note-what' : undefined}>
          {amounts === undefined ? what : t('common.sentences', { first: what, second: amounts })}
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

function amountWords(t: Translate, { code, needed, available }: ErrorShape): string | undefined {
  const language = currentLanguage();
  if (needed === undefined || available === undefined) return undefined;
  if (code === 'context_length_exceeded') {
    return t('thread.neededTokens', { needed: whole(needed, language), available: whole(available, language) });
  }
  if (code !== 'out_of_ram' && code !== 'out_of_vram' && code !== 'disk_full') return undefined;
  return t('thread.needed', { needed: bytes(needed, language), available: bytes(available, language) });
}
