// What may leave this computer, by which way, and the list of everything that ever did.
import { Switch } from 'radix-ui';
import { useT } from '../i18n';
import { saveSettings } from '../state/actions';
import { Connections } from './Connections';
import { SavedField } from './SavedField';
import { TokenField } from './TokenField';
import type { SettingsView } from './types';
import './settings.css';

export function NetworkSettings({ settings }: SettingsView) {
  const t = useT();
  return (
    <>
      <section className="section">
        <div className="card rows">
          <div>
            <label className="place-words" htmlFor="offline">
              <span>{t('network.offline')}</span>
              <span className="place-facts">{t('network.offlineText')}</span>
            </label>
            <Switch.Root
              id="offline"
              className="switch"
              checked={settings.offline}
              onCheckedChange={(offline) => saveSettings({ offline })}
            >
              <Switch.Thumb className="switch-thumb" />
            </Switch.Root>
          </div>
        </div>
      </section>
      <section className="section">
        <h2>{t('network.way')}</h2>
        <div className="card fields">
          <SavedField
            label={t('network.mirror')}
            text={t('network.mirrorText')}
            placeholder="https://huggingface.co"
            value={settings.hubMirror}
            onSave={(hubMirror) => saveSettings({ hubMirror })}
          />
          <SavedField
            label={t('network.proxy')}
            text={t('network.proxyText')}
            placeholder="http://127.0.0.1:8080"
            value={settings.proxy}
            onSave={(proxy) => saveSettings({ proxy })}
          />
          <TokenField isSet={settings.hubTokenSet} onSave={(hubToken) => saveSettings({ hubToken })} />
        </div>
      </section>
      <Connections />
    </>
  );
}
