// Where the person writes. Enter sends, Shift+Enter breaks the line, Up in the empty box brings back the last message.
// Keeps a draft per chat; gives the text back when sending fails.
import type { ErrorShape } from '@contract/errors';
import { X } from 'lucide-react';
import { useCallback, useEffect, useLayoutEffect, useRef, useState, type KeyboardEvent } from 'react';
import { ApiError } from '../api/client';
import { useT } from '../i18n';
import { ErrorNote } from '../parts/ErrorNote';
import { send } from '../state/actions';
import { readDraft, saveDraft } from '../state/drafts';
import { ComposerEffort } from './ComposerEffort';
import { ComposerSend } from './ComposerSend';
import { setEditing, useEditing } from './editing';
import { usePrefill } from './prefill';
import { growField } from './growField';
import './composer.css';

interface Props {
  chatId: string | undefined;
  /** The turn being written in this chat. */
  turn: string | undefined;
  lastUserText: string | undefined;
  onSent: () => void;
}

export function Composer({ chatId, turn, lastUserText, onSent }: Props) {
  const t = useT();
  const field = useRef<HTMLTextAreaElement>(null);
  const [text, setText] = useState(() => readDraft(chatId));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ErrorShape | undefined>();
  const editing = useEditing((state) => (state.chatId === chatId ? state.editing : undefined));

  useLayoutEffect(() => growField(field.current), [text]);
  useEffect(() => {
    if (!matchMedia('(pointer: coarse)').matches) field.current?.focus();
  }, []);
  useEffect(() => {
    const take = (value: string): void => {
      setText(value);
      field.current?.focus();
    };
    const leaveEditing = useEditing.subscribe((state) => {
      if (state.chatId === chatId && state.editing) take(state.editing.text);
    });
    const leavePrefill = chatId === undefined ? usePrefill.subscribe(({ text: value }) => take(value)) : undefined;
    return () => {
      leaveEditing();
      leavePrefill?.();
    };
  }, [chatId]);

  const change = (value: string): void => {
    setText(value);
    setError(undefined);
    if (!editing) saveDraft(chatId, value);
  };

  const submit = useCallback(async (): Promise<void> => {
    const message = text.trim();
    if (!message || busy || turn) return;
    setBusy(true);
    setError(undefined);
    try {
      await send(chatId, message, editing?.parentId);
      saveDraft(chatId, '');
      setText('');
      setEditing(undefined, undefined);
      onSent();
    } catch (thrown) {
      setError(thrown instanceof ApiError ? thrown.shape : { code: 'internal', message: String(thrown) });
    } finally {
      setBusy(false);
    }
  }, [text, busy, turn, chatId, editing, onSent]);

  const onKeyDown = (event: KeyboardEvent<HTMLTextAreaElement>): void => {
    if (event.nativeEvent.isComposing || event.keyCode === 229) return;
    if (event.key === 'Enter' && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      void submit();
    } else if (event.key === 'ArrowUp' && text === '' && lastUserText) {
      event.preventDefault();
      change(lastUserText);
    } else if (event.key === 'Escape' && editing && !turn) {
      event.preventDefault();
      stopEditing();
    }
  };

  const stopEditing = (): void => {
    setEditing(undefined, undefined);
    setText(readDraft(chatId));
  };

  return (
    <div className="composer-place">
      {error && (
        <div role="alert">
          <ErrorNote error={error} />
        </div>
      )}
      <form
        className="composer"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {editing && (
          <div className="composer-editing">
            <span>{t('thread.editing')}</span>
            <button type="button" className="icon-button" aria-label={t('common.cancel')} onClick={stopEditing}>
              <X size={15} aria-hidden />
            </button>
          </div>
        )}
        <textarea
          ref={field}
          rows={1}
          dir="auto"
          value={text}
          maxLength={400_000}
          aria-label={t('composer.label')}
          title=""
          placeholder={t(chatId ? 'composer.placeholderMore' : 'composer.placeholder')}
          enterKeyHint="send"
          onChange={(event) => change(event.target.value)}
          onKeyDown={onKeyDown}
        />
        <div className="composer-row">
          <ComposerEffort chatId={chatId} />
          <span className="composer-hint">{text ? t('composer.hint') : ''}</span>
          <ComposerSend turn={turn} ready={text.trim() !== '' && !busy} />
        </div>
      </form>
    </div>
  );
}
