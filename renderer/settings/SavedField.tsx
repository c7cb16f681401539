// A line of text that is kept when one leaves it or presses Enter.
import { useState } from 'react';
import { Field } from '../parts/Field';

interface Props {
  label: string;
  text: string;
  placeholder: string;
  value: string;
  onSave: (value: string) => void;
}

export function SavedField({ label, text, placeholder, value, onSave }: Props) {
  const [typed, setTyped] = useState<string | undefined>();
  const save = (): void => {
    const next = typed?.trim();
    setTyped(undefined);
    if (next !== undefined && next !== value) onSave(next);
  };
  return (
    <Field label={label} hint={text}>
      {(hint) => (
        <input
          className="field"
          value={typed ?? value}
          spellCheck={false}
          autoComplete="off"
          inputMode="url"
          placeholder={placeholder}
          aria-describedby={hint}
          onChange={(event) => setTyped(event.target.value)}
          onBlur={save}
          onKeyDown={(event) => event.key === 'Enter' && save()}
        />
      )}
    </Field>
  );
}
