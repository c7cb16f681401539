// Asks where on this computer models lie, and has them copied into Hearth's own folder. Nothing there is changed, and each copy is compared.
import { useState } from 'react';
import { useT } from '../i18n';
import { FormDialog } from '../parts/FormDialog';
import { PathField } from '../parts/PathField';
import { importModels } from '../state/modelActions';
import { goTo } from '../state/page';

/** What is wrong with a path is said of the path. */
const WRONG: Partial<Record<string, 'import.nothing' | 'import.ours'>> = {
  file_not_found: 'import.nothing',
  invalid_request: 'import.ours',
};

export function ImportDialog({ onClose }: { onClose: () => void }) {
  const t = useT();
  const [path, setPath] = useState('');
  return (
    <FormDialog
      title={t('import.title')}
      text={t('import.text')}
      action={t('import.go')}
      sending={t('import.looking')}
      ready={path.trim() !== ''}
      send={async () => {
        await importModels(path.trim());
        goTo('models', 'downloads');
      }}
      wrong={({ code }) => {
        const words = WRONG[code];
        return words && t(words);
      }}
      onClose={onClose}
    >
      <PathField value={path} label={t('import.path')} kinds={['folder', 'file']} onChange={setPath} />
    </FormDialog>
  );
}
