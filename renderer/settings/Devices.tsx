// What models run on: by itself, one card, or the processor; and whether the processor may ever stand in.
import { Switch } from 'radix-ui';
import { currentLanguage, useT } from '../i18n';
import { deviceFacts, offeredDevices } from '../model/deviceWords';
import { saveSettings } from '../state/actions';
import { useApp } from '../state/app';
import { useDevices } from '../state/modelQueries';
import type { SettingsView } from './types';
import './devices.css';

const NONE: never[] = [];

export function Devices({ settings }: SettingsView) {
  const t = useT();
  const language = currentLanguage();
  const known = useApp((app) => app.state?.devices) ?? NONE;
  const { data: devices = known } = useDevices();
  const offered = offeredDevices(devices, settings.device);
  const cards = offered.filter(({ kind }) => kind === 'gpu');
  // A card that was chosen and is gone stays in view: nothing else would say why nothing loads.
  const gone = settings.device.startsWith('vulkan') && !cards.some(({ id }) => id === settings.device);
  const choose = (device: string) => () => saveSettings({ device });
  return (
    <section className="section">
      <h2>{t('device.title')}</h2>
      <p>{t(cards.length > 0 ? 'device.text' : 'device.none')}</p>
      <div className="card rows" role="radiogroup" aria-label={t('device.title')}>
        <Choice
          id="auto"
          now={settings.device}
          onChoose={choose('auto')}
          title={t('device.auto')}
          facts={[t('device.autoText')]}
        />
        {cards.map((device) => (
          <Choice
            key={device.id}
            id={device.id}
            now={settings.device}
            onChoose={choose(device.id)}
            title={device.name}
            facts={deviceFacts(t, device, language)}
          />
        ))}
        {gone && (
          <Choice
            id={settings.device}
            now={settings.device}
            onChoose={choose(settings.device)}
            title={t('device.gone')}
            facts={[t('device.goneText')]}
          />
        )}
        <Choice
          id="cpu"
          now={settings.device}
          onChoose={choose('cpu')}
          title={t('model.cpu')}
          facts={[t('device.cpuText')]}
        />
      </div>
      <div className="card rows">
        <div>
          <label className="place-words" htmlFor="gpu-required">
            <span>{t('device.required')}</span>
            <span className="place-facts">{t('device.requiredText')}</span>
          </label>
          <Switch.Root
            id="gpu-required"
            className="switch"
            checked={settings.gpuRequired}
            onCheckedChange={(gpuRequired) => saveSettings({ gpuRequired })}
          >
            <Switch.Thumb className="switch-thumb" />
          </Switch.Root>
        </div>
      </div>
    </section>
  );
}

interface ChoiceProps {
  id: string;
  now: string;
  title: string;
  facts: readonly string[];
  onChoose: () => void;
}

function Choice({ id, now, title, facts, onChoose }: ChoiceProps) {
  return (
    <label className="device-choice">
      <input type="radio" name="engine-device" checked={id === now} onChange={onChoose} />
      <span className="place-words">
        <bdi>{title}</bdi>
        <span className="place-facts num">
          {facts.map((fact) => (
            <span key={fact}>{fact}</span>
          ))}
        </span>
      </span>
    </label>
  );
}
