// The memory of this computer as one bar: other programs, the model, its conversation, working space, and what stays free.
import type { Fit } from '@contract/models';
import { currentLanguage, useT } from '../i18n';
import { bytes } from '../parts/format';
import { budgetOf } from './budget';
import './budget.css';

export function BudgetBar({ fit }: { fit: Fit }) {
  const t = useT();
  const language = currentLanguage();
  const { parts, end } = budgetOf(fit);
  const total = bytes(fit.totalBytes, language);
  return (
    <figure className="budget">
      <div className="budget-bar" aria-hidden>
        {parts.map(({ name, from, share }) => (
          <span key={name} data-part={name} style={{ transform: `translateX(${from * 100}%) scaleX(${share})` }} />
        ))}
        {end < 1 && <i className="budget-end" style={{ insetInlineStart: `${end * 100}%` }} />}
      </div>
      <figcaption className="budget-total num">
        {fit.device === 'vram' && fit.gpu !== undefined
          ? t('budget.card', { name: fit.gpu, total })
          : t('budget.ram', { total })}
      </figcaption>
      <ul className="budget-parts num">
        {parts.map(({ name, bytes: size }) => (
          <li key={name} data-part={name}>
            <i aria-hidden />
            <span>{t(`budget.${name}`)}</span>
            <span className="budget-size">{bytes(size, language)}</span>
          </li>
        ))}
      </ul>
    </figure>
  );
}
