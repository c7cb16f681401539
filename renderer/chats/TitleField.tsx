// A field for a chat's name: Enter keeps it, Esc does not, leaving it keeps it.
import { useRef } from 'react';
import { useT } from '../i18n';

interface Props {
  title: string;
  /** Undefined: not changed. */
  onDone: (title: string | undefined) => void;
}

export function TitleField({ title, onDone }: Props) {
  const t = useT();
  const done = useRef(false);
  const finish = (value: string | undefined): void => {
    if (done.current) return;
    done.current = true;
    onDone(value);
  };
  return (
    <input
      className="field title-field"
      autoFocus
      dir="auto"
      maxLength={200}
      defaultValue={title}
      aria-label={t('chats.renameLabel')}
      onFocus={(event) => event.target.select()}
      onBlur={(event) => finish(event.target.value)}
      onKeyDown={(event) => {
        if (event.nativeEvent.isComposing) return;
        if (event.key === 'Enter') finish(event.currentTarget.value);
        if (event.key === 'Escape') {
          event.preventDefault();
          event.stopPropagation();
          finish(undefined);
        }
      }}
    />
  );
}
