// At the top of the conversation: which model, how it is packed, where it runs. While it loads, how far it has come; before a swap, what comes. Opens the picker.
import { ArrowRight, ChevronDown, CircleAlert } from 'lucide-react';
import { Popover } from 'radix-ui';
import { useState, type CSSProperties } from 'react';
import { currentLanguage, useT } from '../i18n';
import { span } from '../parts/format';
import { useApp } from '../state/app';
import { useRemoteOf } from '../state/queries';
import { ModelPicker } from './ModelPicker';
import { loadShare, phaseWords, whereWords } from './modelWords';
import { swapWords } from './nowWords';
import '../parts/menu.css';
import './model.css';

export function ModelPill() {
  const t = useT();
  const [open, setOpen] = useState(false);
  const state = useApp((app) => app.state);
  const active = state?.active;
  const loading = active?.state === 'loading';
  const swap = state?.swap;
  const remote = useRemoteOf(active?.name);
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
        {swap && (
          <span className="pill-more pill-swap num" title={swapWords(t, swap, currentLanguage())}>
            <ArrowRight size={14} aria-hidden />
            <bdi>{swap.to}</bdi>
            {swap.etaMs !== undefined && <span>{t('swap.about', { span: span(swap.etaMs, currentLanguage()) })}</span>}
          </span>
        )}
        {state && !swap && active?.state === 'ready' && (
          <span className="pill-more">
            {active.info?.quantization && <span>{active.info.quantization}</span>}
            <span>{remote === undefined ? whereWords(t, state) : t('model.remoteOn', { engine: remote })}</span>
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
