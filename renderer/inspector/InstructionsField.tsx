// Standing instructions: saved when the field is left or a moment after the last key.
import { useEffect, useId, useRef, useState } from 'react';
import { useT } from '../i18n';

interface Props {
  label: string;
  value: string;
  rows?: number;
  onSave: (value: string) => void;
}

const AFTER_MS = 800;

export function InstructionsField({ label, value, rows = 4, onSave }: Props) {
  const t = useT();
  const id = useId();
  const [text, setText] = useState<string | undefined>();
  const latest = useRef<{ text: string | undefined; save: (value: string) => void }>({ text: undefined, save: onSave });
  useEffect(() => {
    latest.current = { text, save: onSave };
  });
  useEffect(() => {
    if (text === undefined) return undefined;
    const timer = setTimeout(() => (latest.current.save(text), setText(undefined)), AFTER_MS);
    return () => clearTimeout(timer);
  }, [text]);
  // Leaving the page within that moment loses nothing.
  useEffect(
    () => () => {
      const { text: unsaved, save } = latest.current;
      if (unsaved !== undefined) save(unsaved);
    },
    [],
  );
  return (
    <div className="instructions">
      <label htmlFor={id}>{label}</label>
      <textarea
        id={id}
        className="field"
        rows={rows}
        dir="auto"
        maxLength={100_000}
        placeholder={t('settings.instructionsText')}
        value={text ?? value}
        onChange={(event) => setText(event.target.value)}
      />
    </div>
  );
}
