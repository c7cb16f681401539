// Something that is so and not wrong, within the page: a sentence and at most one action.
import type { ReactNode } from 'react';
import './notice.css';

export function Notice({ icon, text, children }: { icon: ReactNode; text: ReactNode; children?: ReactNode }) {
  return (
    <div className="notice" role="status">
      <span className="notice-icon">{icon}</span>
      <div className="notice-text">{text}</div>
      {children}
    </div>
  );
}
