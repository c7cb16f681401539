// Asks before something that cannot be taken back. The button names what it does; the safe one has the focus.
import { AlertDialog } from 'radix-ui';
import { useT } from '../i18n';
import './dialog.css';

interface Props {
  title: string;
  text: string;
  /** What the dangerous button says. */
  action: string;
  keep?: string;
  onConfirm: () => void;
  onClose: () => void;
}

export function ConfirmDialog({ title, text, action, keep, onConfirm, onClose }: Props) {
  const t = useT();
  return (
    <AlertDialog.Root open onOpenChange={(open) => !open && onClose()}>
      <AlertDialog.Portal>
        <AlertDialog.Overlay className="veil" />
        <AlertDialog.Content className="dialog">
          <AlertDialog.Title className="dialog-title">
            <bdi>{title}</bdi>
          </AlertDialog.Title>
          <AlertDialog.Description className="dialog-text">{text}</AlertDialog.Description>
          <div className="dialog-buttons">
            <AlertDialog.Cancel className="button">{keep ?? t('common.cancel')}</AlertDialog.Cancel>
            <AlertDialog.Action className="button button-bad" onClick={onConfirm}>
              {action}
            </AlertDialog.Action>
          </div>
        </AlertDialog.Content>
      </AlertDialog.Portal>
    </AlertDialog.Root>
  );
}
