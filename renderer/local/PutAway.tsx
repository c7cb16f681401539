// Takes a model out of the memory. While it writes, that ends answers: it is asked first.
import { useState } from 'react';
import { useT } from '../i18n';
import { ConfirmDialog } from '../parts/ConfirmDialog';
import { attempt } from '../state/actions';
import { useApp } from '../state/app';
import { unloadModel } from '../state/modelActions';

export function PutAway({ name }: { name: string }) {
  const t = useT();
  const running = useApp((app) => app.state?.loaded.find((model) => model.name === name)?.running ?? 0);
  const [asking, setAsking] = useState(false);
  const putAway = (): void => attempt(unloadModel(name));
  return (
    <>
      <button type="button" className="button" onClick={() => (running > 0 ? setAsking(true) : putAway())}>
        {t('models.unload')}
      </button>
      {asking && (
        <ConfirmDialog
          title={t('models.unloadTitle', { name })}
          text={t('models.unloadText', { count: running })}
          action={t('models.unloadNow')}
          keep={t('models.unloadKeep')}
          onConfirm={putAway}
          onClose={() => setAsking(false)}
        />
      )}
    </>
  );
}
