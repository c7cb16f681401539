// Everything about models in five parts: those here, those that could be, what is being fetched, those elsewhere, what was measured.
import type { ComponentType } from 'react';
import { DiscoverModels } from '../discover/DiscoverModels';
import { Downloads } from '../downloads/Downloads';
import { isActive } from '../downloads/downloadWords';
import { useT } from '../i18n';
import { LocalModels } from '../local/LocalModels';
import { Measured } from '../measured/Measured';
import { PageTabs } from '../parts/PageTabs';
import { OtherComputers } from '../remote/OtherComputers';
import { useApp } from '../state/app';
import './page.css';

const PARTS = ['here', 'discover', 'downloads', 'remote', 'measured'] as const;
type Part = (typeof PARTS)[number];

const VIEWS: Record<Part, ComponentType> = {
  here: LocalModels,
  discover: DiscoverModels,
  downloads: Downloads,
  remote: OtherComputers,
  measured: Measured,
};

export function ModelsPage({ part }: { part: string | undefined }) {
  const t = useT();
  const current = PARTS.find((known) => known === part) ?? 'here';
  const active = useApp((app) => app.state?.downloads.filter(isActive).length);
  const View = VIEWS[current];
  return (
    <div className="page" key={current}>
      <div className="page-inner" data-wide={current === 'measured'}>
        <header className="page-head">
          <h1>{t('models.title')}</h1>
          <PageTabs
            page="models"
            label={t('models.parts')}
            current={current}
            tabs={PARTS.map((name) => ({
              part: name,
              title: t(`models.part.${name}`),
              count: name === 'downloads' ? active : undefined,
            }))}
          />
        </header>
        <View />
      </div>
    </div>
  );
}
