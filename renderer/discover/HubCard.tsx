// One model of the hub: what it is good for, and one thing to do with it. The file that suits this computer is chosen already.
import type { HubFile, HubModel } from '@contract/models';
import { Lock, Star } from 'lucide-react';
import { useState } from 'react';
import { ApiError } from '../api/client';
import { currentLanguage, type Translate, useT } from '../i18n';
import { HubTrouble } from '../model/HubTrouble';
import { count } from '../parts/format';
import { useRepo } from '../state/modelQueries';
import { pageHref } from '../state/page';
import { HubFileAction } from './HubFileAction';
import { HubFileLine } from './HubFileLine';

interface Props {
  model: HubModel;
  /** Its files are asked for without being pressed. */
  eager: boolean;
  /** The hub can be asked. */
  reachable: boolean;
}

export function HubCard({ model: found, eager, reachable }: Props) {
  const t = useT();
  const language = currentLanguage();
  const [asked, setAsked] = useState(false);
  const wanted = found.files === undefined && reachable && (eager || asked);
  const repo = useRepo(found.repo, wanted);
  const model: HubModel = { ...found, ...repo.data };
  const best = model.files?.find(({ path }) => path === model.suggested);
  const facts = factsOf(t, model);
  return (
    <li className="card model hub" data-featured={model.featured}>
      <div className="model-head">
        <div className="model-title">
          <h3>
            <bdi>{model.title}</bdi>
          </h3>
          {model.featured && (
            <span className="model-tag">
              <Star size={11} aria-hidden /> {t('discover.featured')}
            </span>
          )}
          {model.gated && (
            <a className="model-tag" href={pageHref('settings', 'network')} title={t('discover.gatedText')}>
              <Lock size={11} aria-hidden /> {t('discover.gated')}
            </a>
          )}
        </div>
      </div>
      {model.summary && <p className="hub-summary">{language === 'zh-CN' ? model.summary.zh : model.summary.en}</p>}
      <p className="model-facts num">
        {facts.map((fact) => (
          <span key={fact}>{fact}</span>
        ))}
        {!model.featured && <bdi className="hub-repo">{model.repo}</bdi>}
      </p>
      {repo.error instanceof ApiError &&
        (repo.error.code === 'not_found' ? (
          <p className="hub-none">{t('discover.notThere')}</p>
        ) : (
          <HubTrouble error={repo.error.shape} again={t('common.retry')} onAgain={() => void repo.refetch()} />
        ))}
      {best && model.files && <Files model={model} best={best} files={model.files} />}
      {!model.files && !repo.error && reachable && (
        <button type="button" className="button hub-look" disabled={wanted} onClick={() => setAsked(true)}>
          {t(wanted ? 'discover.looking' : 'discover.look')}
        </button>
      )}
      {model.files?.length === 0 && <p className="hub-none">{t('discover.noFiles')}</p>}
    </li>
  );
}

function Files({ model, best, files }: { model: HubModel; best: HubFile; files: readonly HubFile[] }) {
  const t = useT();
  const others = files.filter((file) => file !== best).sort((a, b) => a.bytes - b.bytes);
  return (
    <>
      <div className="hub-best">
        <HubFileLine file={best} />
        <HubFileAction model={model} file={best} main />
      </div>
      {others.length > 0 && (
        <details className="hub-others">
          <summary>{t('discover.others', { count: others.length })}</summary>
          <ul>
            {others.map((file) => (
              <li key={file.path}>
                <HubFileLine file={file} named />
                <HubFileAction model={model} file={file} />
              </li>
            ))}
          </ul>
        </details>
      )}
    </>
  );
}

function factsOf(t: Translate, model: HubModel): string[] {
  const language = currentLanguage();
  const facts: string[] = [];
  if (model.parameters) facts.push(t('models.parameters', { count: count(model.parameters, language) }));
  if (model.licence) facts.push(t('models.license', { license: model.licence }));
  if (model.downloads) facts.push(t('discover.downloads', { count: count(model.downloads, language) }));
  return facts;
}
