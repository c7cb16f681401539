// What was measured with each model on this computer: a table to read, two files to keep, and what has become worse.
import { FileJson, FileText } from 'lucide-react';
import { useT } from '../i18n';
import { Blank } from '../parts/Blank';
import { attempt } from '../state/actions';
import { exportMatrix } from '../state/modelActions';
import { useMatrix } from '../state/modelQueries';
import { pageHref } from '../state/page';
import { CheckNow } from './CheckNow';
import { MeasuredTable } from './MeasuredTable';
import { groupRows } from './matrixTable';
import './measured.css';

export function Measured() {
  const t = useT();
  const { data, isSuccess } = useMatrix();
  const rows = data?.rows ?? [];
  const checks = data?.checks ?? [];
  const groups = groupRows(rows);
  // The first check of a model has no row yet.
  const unlisted = checks.filter(({ model }) => !groups.some((group) => group.model === model));
  return (
    <section className="section">
      <h2 className="hidden">{t('models.part.measured')}</h2>
      <div className="measured-bar">
        <p>{t('measured.text')}</p>
        {rows.length > 0 && (
          <span className="measured-exports">
            <button type="button" className="button" onClick={() => attempt(exportMatrix('md'))}>
              <FileText size={15} aria-hidden />
              Markdown
            </button>
            <button type="button" className="button" onClick={() => attempt(exportMatrix('json'))}>
              <FileJson size={15} aria-hidden />
              JSON
            </button>
          </span>
        )}
      </div>
      {isSuccess && rows.length === 0 && checks.length === 0 && (
        <Blank text={t('measured.none')}>
          <a className="button" href={pageHref('models')}>
            {t('measured.toModels')}
          </a>
        </Blank>
      )}
      {unlisted.map((check) => (
        <div key={check.model} className="measured">
          <h3>
            <bdi>{check.model}</bdi>
          </h3>
          <CheckNow check={check} />
        </div>
      ))}
      {groups.map((group) => (
        <MeasuredTable key={group.model} group={group} check={checks.find(({ model }) => model === group.model)} />
      ))}
    </section>
  );
}
