// Where there is nothing yet: one sentence that says why, and one way on.
import type { ReactNode } from 'react';
import './blank.css';

export function Blank({ text, children }: { text: string; children?: ReactNode }) {
  return (
    <div className="blank">
      <p>{text}</p>
      {children}
    </div>
  );
}
