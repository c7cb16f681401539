// What models run on, where they are looked for, where everything lies, and when an unused model makes room.
import { useT } from '../i18n';
import { Segmented } from '../parts/Segmented';
import { saveSettings } from '../state/actions';
import { Devices } from './Devices';
import { Folders } from './Folders';
import { Locations } from './Locations';
import type { SettingsView } from './types';

const IDLE_MINUTES = [0, 10, 30, 120] as const;

export function StorageSettings({ settings }: SettingsView) {
  const t = useT();
  return (
    <>
      <Devices settings={settings} />
      <Folders />
      <Locations />
      <section className="section">
        <h2>{t('idle.title')}</h2>
        <p>{t('idle.text')}</p>
        <div>
          <Segmented
            label={t('idle.title')}
            value={String(nearest(settings.idleUnloadMinutes))}
            options={IDLE_MINUTES.map((minutes) => ({ value: String(minutes), label: t(`idle.${minutes}`) }))}
            onChange={(value) => saveSettings({ idleUnloadMinutes: Number(value) })}
          />
        </div>
      </section>
    </>
  );
}

/** Another program may have set any number; the choice nearest to it stands out. */
function nearest(minutes: number): number {
  if (minutes === 0) return 0;
  return [...IDLE_MINUTES].slice(1).sort((a, b) => Math.abs(a - minutes) - Math.abs(b - minutes))[0] ?? 0;
}
