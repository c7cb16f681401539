// The ledger: every connection that ever left this computer, newest first.
import type { Connection } from '@contract/models';
import { useState } from 'react';
import { currentLanguage, useT } from '../i18n';
import { Blank } from '../parts/Blank';
import { bytes, moment } from '../parts/format';
import '../parts/table.css';
import { useConnections } from '../state/modelQueries';

const SHOWN = 50;

export function Connections() {
  const t = useT();
  const { data: connections = [], isSuccess } = useConnections();
  const [all, setAll] = useState(false);
  const shown = all ? connections : connections.slice(0, SHOWN);
  return (
    <section className="section">
      <h2>{t('ledger.title')}</h2>
      <p className="num">
        {connections.length === 0
          ? t('ledger.text')
          : t('common.sentences', {
              first: t('ledger.text'),
              second: t('ledger.count', { count: madeOf(connections) }),
            })}
      </p>
      {isSuccess && connections.length === 0 && <Blank text={t('ledger.none')} />}
      {connections.length > 0 && (
        <div className="card ledger" role="region" aria-label={t('ledger.title')} tabIndex={0}>
          <table className="table">
            <thead>
              <tr>
                <th scope="col">{t('ledger.when')}</th>
                <th scope="col">{t('ledger.host')}</th>
                <th scope="col">{t('ledger.purpose')}</th>
                <th scope="col" className="table-number">
                  {t('ledger.amount')}
                </th>
                <th scope="col">{t('ledger.outcome')}</th>
              </tr>
            </thead>
            <tbody className="num">
              {shown.map((connection, index) => (
                <Line key={`${connection.at}-${index}`} connection={connection} />
              ))}
            </tbody>
          </table>
        </div>
      )}
      {!all && connections.length > SHOWN && (
        <div>
          <button type="button" className="button" onClick={() => setAll(true)}>
            {t('ledger.all', { count: connections.length })}
          </button>
        </div>
      )}
    </section>
  );
}

/** Those that offline mode refused were never made. */
const madeOf = (connections: readonly Connection[]): number =>
  connections.reduce((sum, { count, outcome }) => sum + (outcome === 'refused' ? 0 : count), 0);

function Line({ connection }: { connection: Connection }) {
  const { at, count, host, purpose, detail, bytes: size, outcome } = connection;
  const t = useT();
  const language = currentLanguage();
  return (
    <tr>
      <td>
        {moment(at, language)}
        {count > 1 && <span className="table-more">{t('ledger.times', { count })}</span>}
      </td>
      <td>
        <bdi>{host}</bdi>
      </td>
      <td className="ledger-purpose">
        {t(`ledger.purpose.${purpose}`)}
        {detail && <bdi className="table-more">{detail}</bdi>}
      </td>
      <td className="table-number">{size > 0 ? bytes(size, language) : '–'}</td>
      <td data-outcome={outcome}>{t(`ledger.outcome.${outcome}`)}</td>
    </tr>
  );
}
