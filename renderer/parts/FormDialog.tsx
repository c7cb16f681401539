// A dialog that asks for something and sends it: it stays while it is refused, and says why. What is asked and where it goes is its
// caller's.
import { useId, useState, type ReactNode } from 'react';
import { ApiError } from '../api/client';
import { useT } from '../i18n';
import { Dialog } from './Dialog';
import { ErrorNote } from './ErrorNote';

interface Props {
  title: string;
  text: string;
  /** Of the button that sends, and while it is being sent. */
  action: string;
  sending: string;
  /** Whether there is enough to be sent. */
  ready: boolean;
  send: () => Promise<unknown>;
  /** What is wrong with a field, in words; undefined: it is another failure. */
  wrong?: (error: ApiError) => string | undefined;
  onClose: () => void;
  children: ReactNode;
}

export function FormDialog({ title, text, action, sending, ready, send, wrong, onClose, children }: Props) {
  const t = useT();
  const form = useId();
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError>();
  const submit = async (): Promise<void> => {
    if (!ready || busy) return;
    setBusy(true);
    setError(undefined);
    try {
      await send();
      onClose();
    } catch (failure) {
      setBusy(false);
      if (!(failure instanceof ApiError)) throw failure;
      setError(failure);
    }
  };
  return (
    <Dialog
      title={title}
      text={text}
      onClose={onClose}
      buttons={
        <>
          <button type="button" className="button" onClick={onClose}>
            {t('common.cancel')}
          </button>
          <button type="submit" form={form} className="button button-main" disabled={!ready || busy}>
            {busy ? sending : action}
          </button>
        </>
      }
    >
      <form
        id={form}
        className="dialog-form"
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        {children}
      </form>
      {error && <Refused error={error} words={wrong?.(error)} />}
    </Dialog>
  );
}

function Refused({ error, words }: { error: ApiError; words: string | undefined }) {
  if (words === undefined) return <ErrorNote error={error.shape} />;
  return (
    <p className="path-wrong" role="alert">
      {words}
    </p>
  );
}
