// Language, day and night, and what new chats begin with.
import type { ChatSettings } from '@contract/own';
import { useT } from '../i18n';
import { ChatSliders } from '../inspector/ChatSliders';
import { InstructionsField } from '../inspector/InstructionsField';
import '../inspector/inspector.css';
import { Segmented } from '../parts/Segmented';
import { saveSettings } from '../state/actions';
import { DEFAULT_SETTINGS } from '../state/newChat';
import { cached } from '../state/queries';
import type { SettingsView } from './types';

export function GeneralSettings({ settings }: SettingsView) {
  const t = useT();
  return (
    <>
      <section className="section">
        <div className="card rows">
          <div>
            <span className="row-label">{t('settings.language')}</span>
            <Segmented
              label={t('settings.language')}
              value={settings.language}
              options={[
                { value: 'auto', label: t('settings.languageAuto') },
                { value: 'en', label: 'English' },
                { value: 'zh-CN', label: '简体中文' },
              ]}
              onChange={(language) => saveSettings({ language })}
            />
          </div>
          <div>
            <span className="row-label">{t('settings.theme')}</span>
            <Segmented
              label={t('settings.theme')}
              value={settings.theme}
              options={[
                { value: 'auto', label: t('settings.theme.auto') },
                { value: 'light', label: t('settings.theme.light') },
                { value: 'dark', label: t('settings.theme.dark') },
              ]}
              onChange={(theme) => saveSettings({ theme })}
            />
          </div>
        </div>
      </section>
      <section className="section">
        <h2>{t('settings.defaults')}</h2>
        <p>{t('settings.defaultsText')}</p>
        <div className="card settings-defaults">
          <ChatSliders value={settings.chat} onChange={changeDefaults} />
          <InstructionsField
            label={t('settings.instructions')}
            value={settings.chat.instructions}
            rows={5}
            onSave={(instructions) => changeDefaults({ instructions })}
          />
        </div>
      </section>
    </>
  );
}

/** The whole of `chat`: it is on the page before the server has answered. */
function changeDefaults(patch: Partial<ChatSettings>): void {
  saveSettings({ chat: { ...(cached.settings()?.chat ?? DEFAULT_SETTINGS), ...patch } });
}
