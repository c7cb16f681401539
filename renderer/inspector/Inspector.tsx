// The panel on the right: how this chat is answered, in words.
import { X } from 'lucide-react';
import { useT } from '../i18n';
import { changeSettings } from '../state/actions';
import { setPref } from '../state/prefs';
import { ChatSliders } from './ChatSliders';
import { InstructionsField } from './InstructionsField';
import { useChatSettings } from './useChatSettings';
import './inspector.css';

export function Inspector({ chatId }: { chatId: string | undefined }) {
  const t = useT();
  const settings = useChatSettings(chatId);
  return (
    <aside className="inspector" aria-label={t('inspector.title')}>
      <div className="inspector-head">
        <h2>{t('inspector.title')}</h2>
        <button
          type="button"
          className="icon-button"
          aria-label={t('inspector.hide')}
          onClick={() => setPref({ inspectorOpen: false })}
        >
          <X size={17} aria-hidden />
        </button>
      </div>
      <p className="inspector-scope">{t(chatId ? 'inspector.chat' : 'inspector.new')}</p>
      <ChatSliders value={settings} onChange={(patch) => changeSettings(chatId, patch)} />
      <InstructionsField
        key={chatId ?? 'new'}
        label={t('inspector.instructions')}
        value={settings.instructions}
        onSave={(instructions) => changeSettings(chatId, { instructions })}
      />
    </aside>
  );
}
