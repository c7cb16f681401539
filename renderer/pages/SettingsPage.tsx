// Settings in three parts. Every change is kept at once.
import type { ComponentType } from 'react';
import { useT } from '../i18n';
import { PageTabs } from '../parts/PageTabs';
import { GeneralSettings } from '../settings/GeneralSettings';
import { NetworkSettings } from '../settings/NetworkSettings';
import { StorageSettings } from '../settings/StorageSettings';
import type { SettingsView } from '../settings/types';
import { useSettings } from '../state/queries';
import './page.css';
import './settingsPage.css';

const PARTS = ['general', 'storage', 'network'] as const;
type Part = (typeof PARTS)[number];

const VIEWS: Record<Part, ComponentType<SettingsView>> = {
  general: GeneralSettings,
  storage: StorageSettings,
  network: NetworkSettings,
};

export function SettingsPage({ part }: { part: string | undefined }) {
  const t = useT();
  const { data: settings } = useSettings();
  const current = PARTS.find((known) => known === part) ?? 'general';
  const View = VIEWS[current];
  if (!settings) return <div className="page" />;
  return (
    <div className="page" key={current}>
      <div className="page-inner">
        <header className="page-head">
          <h1>{t('settings.title')}</h1>
          <PageTabs
            page="settings"
            label={t('settings.parts')}
            current={current}
            tabs={PARTS.map((name) => ({ part: name, title: t(`settings.part.${name}`) }))}
          />
        </header>
        <View settings={settings} />
      </div>
    </div>
  );
}
