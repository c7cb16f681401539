// The way in for models that lie on a disk: a button and its dialog.
import { HardDriveDownload } from 'lucide-react';
import { useState } from 'react';
import { useT } from '../i18n';
import { ImportDialog } from './ImportDialog';

export function ImportButton() {
  const t = useT();
  const [asking, setAsking] = useState(false);
  return (
    <>
      <button type="button" className="button" onClick={() => setAsking(true)}>
        <HardDriveDownload size={15} aria-hidden />
        {t('import.open')}
      </button>
      {asking && <ImportDialog onClose={() => setAsking(false)} />}
    </>
  );
}
