// One model's measurements, newest first. What is worse than in the last good row has a sign and a word.
import type { MatrixCheck, MatrixRow } from '@contract/models';
import { CircleAlert, CircleCheck, CircleDashed, TrendingDown, TriangleAlert } from 'lucide-react';
import { currentLanguage, useT } from '../i18n';
import { moment } from '../parts/format';
import { Notice } from '../parts/Notice';
import { attempt } from '../state/actions';
import { checkModel } from '../state/modelActions';
import { CheckNow } from './CheckNow';
import {
  NUMBERS,
  TITLES,
  checkKey,
  conversationWords,
  exactWords,
  type Group,
  isChecking,
  numberWords,
  regressed,
  worseWords,
} from './matrixTable';

interface Props {
  group: Group;
  check: MatrixCheck | undefined;
}

export function MeasuredTable({ group: { model, rows }, check }: Props) {
  const t = useT();
  const language = currentLanguage();
  const newest = rows[0];
  const worse = newest && newest.regressions.length > 0 ? newest : undefined;
  return (
    <div className="measured">
      <div className="measured-head">
        <h3>
          <bdi>{model}</bdi>
        </h3>
        {!(check && isChecking(check)) && (
          <button type="button" className="button" onClick={() => attempt(checkModel(model))}>
            {t('models.check')}
          </button>
        )}
      </div>
      {check && <CheckNow check={check} />}
      {worse && (
        <Notice icon={<TriangleAlert size={16} aria-hidden />} text={worseWords(t, worse.regressions, language)} />
      )}
      <div
        className="card measured-scroll"
        role="region"
        aria-label={t('measured.tableOf', { name: model })}
        tabIndex={0}
      >
        <table className="table">
          <thead>
            <tr>
              <th scope="col">{t('measured.when')}</th>
              {NUMBERS.map((name) => (
                <th key={name} scope="col" className="table-number">
                  {t(TITLES[name])}
                </th>
              ))}
              <th scope="col">{t('measured.selfCheck')}</th>
              <th scope="col">{t('measured.conversation')}</th>
              <th scope="col">{t('measured.engine')}</th>
            </tr>
          </thead>
          <tbody className="num">
            {rows.map((row) => (
              <Row key={`${row.engineBuild}${row.device}${row.kvType}${row.contextBucket}${row.at}`} row={row} />
            ))}
          </tbody>
        </table>
      </div>
    </div>
  );
}

function Row({ row }: { row: MatrixRow }) {
  const t = useT();
  const language = currentLanguage();
  return (
    <tr>
      <th scope="row">
        {moment(row.at, language)}
        <span className="table-more">{t(`measured.source.${row.source}`)}</span>
      </th>
      {NUMBERS.map((name) => (
        <td key={name} className="table-number" title={exactWords(t, row, name, language)}>
          {numberWords(t, row, name, language) ?? '–'}
          {regressed(row, name) && (
            <span className="table-worse">
              <TrendingDown size={13} aria-hidden />
              {t('measured.worseCell')}
            </span>
          )}
        </td>
      ))}
      <td>
        <SelfCheck row={row} />
      </td>
      <td>
        {conversationWords(t, row)}
        <span className="table-more">{t(row.kvType === 'q8' ? 'measured.kv.q8' : 'measured.kv.full')}</span>
      </td>
      <td>
        {row.device}
        <span className="table-more">{row.engineBuild}</span>
      </td>
    </tr>
  );
}

const SIGNS = { passed: CircleCheck, changed: TriangleAlert, failed: CircleAlert, none: CircleDashed } as const;

function SelfCheck({ row }: { row: MatrixRow }) {
  const t = useT();
  const Sign = SIGNS[row.selfCheck];
  return (
    <span
      className="self-check"
      data-check={row.selfCheck}
      title={row.kl === undefined ? undefined : `KL ${row.kl.toPrecision(2)}`}
    >
      <Sign size={14} aria-hidden />
      {t(checkKey(row))}
    </span>
  );
}
