// The field of another computer's key: typed or pasted, and never shown.
import { Field } from './Field';

interface Props {
  label: string;
  hint: string;
  value: string;
  onChange: (key: string) => void;
}

export function KeyField({ label, hint, value, onChange }: Props) {
  return (
    <Field label={label} hint={hint}>
      {(id) => (
        <input
          className="field"
          type="password"
          value={value}
          autoComplete="off"
          spellCheck={false}
          aria-describedby={id}
          onChange={(event) => onChange(event.target.value)}
        />
      )}
    </Field>
  );
}
