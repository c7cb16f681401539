// What is being fetched, and what was: it survives being closed, so nobody has to wait for it.
import type { Download } from '@contract/models';
import { currentLanguage, useT } from '../i18n';
import { Blank } from '../parts/Blank';
import { bytes } from '../parts/format';
import { useApp } from '../state/app';
import { useFolders } from '../state/modelQueries';
import { pageHref } from '../state/page';
import { DownloadRow } from './DownloadRow';
import { ImportButton } from './ImportButton';
import './downloads.css';

const NONE: readonly Download[] = [];

export function Downloads() {
  const t = useT();
  const downloads = useApp((app) => app.state?.downloads ?? NONE);
  const { data: folders } = useFolders();
  const free = folders?.find(({ kind }) => kind === 'own')?.freeBytes;
  return (
    <section className="section">
      <h2 className="hidden">{t('models.part.downloads')}</h2>
      {downloads.length === 0 ? (
        <Blank text={t('download.none')}>
          <span className="blank-actions">
            <a className="button button-main" href={pageHref('models', 'discover')}>
              {t('models.find')}
            </a>
            <ImportButton />
          </span>
        </Blank>
      ) : (
        <>
          <p className="num">
            {free === undefined
              ? t('download.safe')
              : t('common.sentences', {
                  first: t('download.safe'),
                  second: t('download.free', { amount: bytes(free, currentLanguage()) }),
                })}
          </p>
          <ul className="card downloads">
            {downloads.map((download) => (
              <DownloadRow key={download.id} download={download} />
            ))}
          </ul>
          <div>
            <ImportButton />
          </div>
        </>
      )}
    </section>
  );
}
