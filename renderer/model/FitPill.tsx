// Whether a model fits, as a small sign with its words: a shape and a colour for each verdict, and the reason.
import type { Fit } from '@contract/models';
import { CircleCheck, CircleDashed, CircleX, TriangleAlert } from 'lucide-react';
import { currentLanguage, useT } from '../i18n';
import { fitShort, fitWords } from './fitWords';
import './fit.css';

const SIGNS = { fits: CircleCheck, tight: TriangleAlert, too_big: CircleX, unknown: CircleDashed } as const;

export function FitPill({ fit, short }: { fit: Fit; short?: boolean }) {
  const t = useT();
  const Sign = SIGNS[fit.verdict];
  const words = fitWords(t, fit, currentLanguage());
  return (
    <span className="fit num" data-verdict={fit.verdict} title={short ? words : undefined}>
      <Sign size={14} aria-hidden />
      {short ? fitShort(t, fit.verdict) : words}
    </span>
  );
}
