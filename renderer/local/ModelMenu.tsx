// Everything else that can be done with a model on this computer. What belongs to another program is never deleted, and it says so.
import type { ModelEntry } from '@contract/own';
import { Copy, Ellipsis, Gauge, SlidersHorizontal, Tag, Trash2 } from 'lucide-react';
import { DropdownMenu } from 'radix-ui';
import { useState } from 'react';
import { toast } from 'sonner';
import { currentLanguage, useT } from '../i18n';
import { openLoad } from '../load/loadDialog';
import { isBroken } from '../model/modelWords';
import { ConfirmDialog } from '../parts/ConfirmDialog';
import { copyText } from '../parts/copyText';
import { bytes } from '../parts/format';
import '../parts/menu.css';
import { attempt } from '../state/actions';
import { checkModel, removeModel } from '../state/modelActions';
import { AliasDialog } from './AliasDialog';

export function ModelMenu({ model }: { model: ModelEntry }) {
  const t = useT();
  const [asking, setAsking] = useState<'remove' | 'alias' | undefined>();
  const broken = isBroken(model);
  const copy = async (): Promise<void> => {
    if (await copyText(model.path)) toast(t('common.copied'), { description: model.path, duration: 1500 });
  };
  return (
    <>
      <DropdownMenu.Root>
        <DropdownMenu.Trigger className="icon-button" aria-label={t('models.actions', { name: model.name })}>
          <Ellipsis size={17} aria-hidden />
        </DropdownMenu.Trigger>
        <DropdownMenu.Portal>
          <DropdownMenu.Content className="menu" align="end" sideOffset={4} collisionPadding={8}>
            {!broken && (
              <>
                <DropdownMenu.Item className="menu-item" onSelect={() => openLoad(model.name)}>
                  <SlidersHorizontal size={15} aria-hidden />
                  {t('models.choose')}
                </DropdownMenu.Item>
                <DropdownMenu.Item className="menu-item" onSelect={() => attempt(checkModel(model.name))}>
                  <Gauge size={15} aria-hidden />
                  {t('models.check')}
                </DropdownMenu.Item>
                <DropdownMenu.Item className="menu-item" onSelect={() => setAsking('alias')}>
                  <Tag size={15} aria-hidden />
                  {t('models.alias')}
                </DropdownMenu.Item>
              </>
            )}
            <DropdownMenu.Item className="menu-item" onSelect={() => void copy()}>
              <Copy size={15} aria-hidden />
              {t('models.copyPath')}
            </DropdownMenu.Item>
            <RemoveItem model={model} onSelect={() => setAsking('remove')} />
          </DropdownMenu.Content>
        </DropdownMenu.Portal>
      </DropdownMenu.Root>
      {asking === 'remove' && <RemoveDialog model={model} onClose={() => setAsking(undefined)} />}
      {asking === 'alias' && <AliasDialog model={model} onClose={() => setAsking(undefined)} />}
    </>
  );
}

function RemoveItem({ model, onSelect }: { model: ModelEntry; onSelect: () => void }) {
  const t = useT();
  const own = model.folder === 'own';
  if (model.builtin) return null;
  return (
    <DropdownMenu.Item className="menu-item menu-bad" disabled={!own} onSelect={onSelect}>
      <Trash2 size={15} aria-hidden />
      <span className="menu-item-words">
        {t('models.remove')}
        {!own && <span className="menu-item-hint">{t('models.notOurs')}</span>}
      </span>
    </DropdownMenu.Item>
  );
}

function RemoveDialog({ model, onClose }: { model: ModelEntry; onClose: () => void }) {
  const t = useT();
  const size = bytes(model.fileBytes, currentLanguage());
  return (
    <ConfirmDialog
      title={t('models.removeTitle', { name: model.name })}
      text={t('models.removeText', { size })}
      action={t('models.removeAction', { size })}
      keep={t('models.keep')}
      onConfirm={() => attempt(removeModel(model.name))}
      onClose={onClose}
    />
  );
}
