// A dialog over the page: a title, a sentence, what is asked, and the buttons. Escape and a press beside it close it.
import { X } from 'lucide-react';
import { Dialog as Base } from 'radix-ui';
import type { ReactNode } from 'react';
import { useT } from '../i18n';
import './dialog.css';

interface Props {
  title: string;
  text?: string | undefined;
  wide?: boolean;
  onClose: () => void;
  children?: ReactNode;
  buttons: ReactNode;
}

export function Dialog({ title, text, wide, onClose, children, buttons }: Props) {
  const t = useT();
  return (
    <Base.Root open onOpenChange={(open) => !open && onClose()}>
      <Base.Portal>
        <Base.Overlay className="veil" />
        <Base.Content
          className="dialog"
          data-wide={wide}
          {...(text === undefined && { 'aria-describedby': undefined })}
        >
          <Base.Title className="dialog-title">
            <bdi>{title}</bdi>
          </Base.Title>
          {text !== undefined && <Base.Description className="dialog-text">{text}</Base.Description>}
          {children}
          <div className="dialog-buttons">{buttons}</div>
          <Base.Close className="icon-button dialog-close" aria-label={t('common.close')}>
            <X size={16} aria-hidden />
          </Base.Close>
        </Base.Content>
      </Base.Portal>
    </Base.Root>
  );
}
