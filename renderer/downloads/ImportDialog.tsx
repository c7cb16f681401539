// Asks where on this computer models lie, and has them copied into Hearth's own folder. Nothing there is changed, and each copy is compared.
import { useState } from 'react';
import { ApiError } from '../api/client';
import { useT } from '../i18n';
import { Dialog } from '../parts/Dialog';
import { ErrorNote } from '../parts/ErrorNote';
import { PathField } from '../parts/PathField';
import { importModels } from '../state/modelActions';
import { goTo } from '../state/page';

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const t = useT();
  const [path, setPath] = useState('');
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<ApiError | undefined>();
  const wanted = path.trim();
  const copy = async (): Promise<void> => {
    if (!wanted || busy) return;
    setBusy(true);
    setError(undefined);
    try {
      await importModels(wanted);
      onClose();
      goTo('models', 'downloads');
    } catch (failure) {
      setBusy(false);
      setError(failure instanceof ApiError ? failure : undefined);
    }
  };
  return (
    <Dialog
      title={t('import.title')}
      text={t('import.text')}
      onClose={onClose}
      buttons={
        <>
          <button type="button" className="button" onClick={onClose}>
            {t('common.cancel')}
          </button>
          <button type="submit" form="import" className="button button-main" disabled={!wanted || busy}>
            {t(busy ? 'import.looking' : 'import.go')}
          </button>
        </>
      }
    >
      <form
        id="import"
        onSubmit={(event) => {
          event.preventDefault();
          void copy();
        }}
      >
        <PathField value={path} label={t('import.path')} kinds={['folder', 'file']} onChange={setPath} />
      </form>
      {error && <Refused error={error} />}
    </Dialog>
  );
}

/** What is wrong with a path is said of the path. */
function Refused({ error }: { error: ApiError }) {
  const t = useT();
  if (error.code !== 'file_not_found' && error.code !== 'invalid_request') return <ErrorNote error={error.shape} />;
  return (
    <p className="path-wrong" role="alert">
      {t(error.code === 'file_not_found' ? 'import.nothing' : 'import.ours')}
    </p>
  );
}
