// ‹ 2/3 ›: the versions of a message. All of them are kept.
import type { ChatWithMessages, Message } from '@contract/own';
import { ChevronLeft, ChevronRight } from 'lucide-react';
import { useT } from '../i18n';
import { showVersion } from '../state/actions';
import { versionsOf } from '../state/branch';

export function VersionPicker({ chat, message }: { chat: ChatWithMessages; message: Message }) {
  const t = useT();
  const versions = versionsOf(chat.messages, message);
  if (versions.length < 2) return null;
  const index = versions.findIndex((version) => version.id === message.id);
  const go = (to: number): void => {
    const version = versions[to];
    if (version) showVersion(chat.id, version.id);
  };
  const busy = chat.turn !== undefined;
  return (
    <span
      className="versions num"
      role="group"
      aria-label={t('thread.version', { index: index + 1, count: versions.length })}
    >
      <button
        type="button"
        className="icon-button"
        aria-label={t('thread.versionPrevious')}
        disabled={index <= 0 || busy}
        onClick={() => go(index - 1)}
      >
        <ChevronLeft size={15} aria-hidden />
      </button>
      <span aria-hidden>
        {index + 1}/{versions.length}
      </span>
      <button
        type="button"
        className="icon-button"
        aria-label={t('thread.versionNext')}
        disabled={index >= versions.length - 1 || busy}
        onClick={() => go(index + 1)}
      >
        <ChevronRight size={15} aria-hidden />
      </button>
    </span>
  );
}
