// A field with its name above and a hint below. The hint describes the field; it is no part of its name.
import { useId, type ReactNode } from 'react';
import './dialog.css';

interface Props {
  label: string;
  hint: string;
  children: (describedBy: string) => ReactNode;
}

export function Field({ label, hint, children }: Props) {
  const id = useId();
  return (
    <div className="dialog-field">
      <label>
        <span>{label}</span>
        {children(id)}
      </label>
      <small id={id}>{hint}</small>
    </div>
  );
}
