// Whether the files of a model are what their makers published, as far as this computer knows.
import type { Verification } from '@contract/models';
import { LoaderCircle, ShieldAlert, ShieldCheck, ShieldQuestion } from 'lucide-react';
import { currentLanguage, type Translate, useT } from '../i18n';
import { percent } from '../parts/format';

const SIGNS = {
  unknown: ShieldQuestion,
  waiting: ShieldQuestion,
  hashing: LoaderCircle,
  hashed: ShieldCheck,
  matches: ShieldCheck,
  differs: ShieldAlert,
} as const;

export function VerifiedSign({ verification }: { verification: Verification }) {
  const t = useT();
  const Sign = SIGNS[verification.state];
  return (
    <span className="verified num" data-state={verification.state}>
      <Sign className={verification.state === 'hashing' ? 'spin' : undefined} size={14} aria-hidden />
      {verifiedWords(t, verification)}
    </span>
  );
}

function verifiedWords(t: Translate, { state, fraction }: Verification): string {
  if (state === 'hashing') return t('verified.hashing', { percent: percent(fraction ?? 0, currentLanguage()) });
  return t(`verified.${state}`);
}
