// The automatic choices side by side: what each is for, and how much conversation it holds.
import type { LoadChoice } from '@contract/models';
import { useId } from 'react';
import { useT } from '../i18n';
import { FitPill } from '../model/FitPill';
import { pagesOf } from '../parts/format';

interface Props {
  choices: readonly LoadChoice[];
  recommended: LoadChoice['id'];
  value: LoadChoice['id'];
  onChange: (id: LoadChoice['id']) => void;
}

export function LoadChoices({ choices, recommended, value, onChange }: Props) {
  const t = useT();
  const name = useId();
  return (
    <div className="load-choices" role="radiogroup" aria-label={t('load.choices')}>
      {choices.map(({ id, context, fit }) => (
        <label key={id} className="load-choice">
          <input type="radio" className="hidden" name={name} checked={id === value} onChange={() => onChange(id)} />
          <span className="load-choice-title">
            {t(`load.choice.${id}`)}
            {id === recommended && <span className="load-choice-tag">{t('load.recommended')}</span>}
          </span>
          <span className="load-choice-text">{t(`load.choice.${id}.text`)}</span>
          <span className="load-choice-pages num">{t('load.holds', { count: Math.max(1, pagesOf(context)) })}</span>
          <FitPill fit={fit} short />
        </label>
      ))}
    </div>
  );
}
