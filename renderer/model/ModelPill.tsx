// At the top of the conversation: which model, how it is packed, where it runs. While it loads, how far it has come. Opens the picker.
import { ChevronDown, CircleAlert } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useState, type CSSProperties } from 'react';
import { currentLanguage, useT } from '../i18n';
import { useApp } from '../state/app';
import { ModelPicker } from './ModelPicker';
import { loadShare, phaseWords, whereWords } from './modelWords';
import '../parts/menu.css';
import './model.css';

export function ModelPill() {
  const t = useT();
  const [open, setOpen] = useState(false);
  const state = useApp((app) => app.state);
  const active = state?.active;
  const loading = active?.state === 'loading';
  const name = active?.name ?? t('model.none');
  return (
    <Popover.Root open={open} onOpenChange={setOpen}>
      <Popover.Trigger
        className="pill"
        data-loading={loading}
        style={loading ? ({ '--share': loadShare(active) } as CSSProperties) : undefined}
        aria-label={active ? t('model.label', { name }) : name}
      >
        {active?.state === 'failed' && <CircleAlert className="pill-alert" size={15} aria-hidden />}
        <bdi className="pill-name">{name}</bdi>
        {loading && <span className="pill-more num">{phaseWords(t, active, currentLanguage())}</span>}
        {active?.state === 'failed' && <span className="pill-more">{t('model.state.failed')}</span>}
        {state && active?.state === 'ready' && (
          <span className="pill-more">
            {active.info?.quantization && <span>{active.info.quantization}</span>}
            <span>{whereWords(t, state)}</span>
          </span>
        )}
        <ChevronDown size={15} aria-hidden />
      </Popover.Trigger>
      <Popover.Portal>
        <Popover.Content
          className="pop picker"
          align="center"
          sideOffset={6}
          collisionPadding={8}
          aria-label={t('model.picker')}
        >
          <ModelPicker onDone={() => setOpen(false)} />
        </Popover.Content>
      </Popover.Portal>
    </Popover.Root>
  );
}
