// What the machine does, in one thin line: state and model, what comes next, memory, speed, downloads,
// requests, address. Every colour has its word.
import {
  ArrowLeftRight,
  CircleAlert,
  CircleDashed,
  Circle,
  Download,
  Link2,
  LoaderCircle,
  MemoryStick,
  WifiOff,
} from 'lucide-react';
import type { AppState } from '@contract/own';
import { toast } from 'sonner';
import { trayWords } from '../downloads/downloadWords';
import { currentLanguage, type Key, useT } from '../i18n';
import { isRestarting } from '../model/modelWords';
import { swapWords } from '../model/nowWords';
import { copyText } from '../parts/copyText';
import { Ember } from '../parts/Ember';
import { bytes, speed } from '../parts/format';
import { useApp } from '../state/app';
import { pageHref } from '../state/page';
import { useSettings } from '../state/queries';
import './status.css';

export function StatusBar() {
  const t = useT();
  const state = useApp((app) => app.state);
  const lost = useApp((app) => app.connection === 'lost');
  return (
    <footer className="status" aria-label={t('status.label')}>
      <Engine state={state} lost={lost} />
      {state && !lost && (
        <>
          <Swap state={state} />
          <Memory state={state} />
          <Speed state={state} />
          <span className="status-gap" />
          <Offline />
          <DownloadTray state={state} />
          <Requests state={state} />
          <Address state={state} />
        </>
      )}
    </footer>
  );
}

interface Sign {
  word: Key;
  icon: 'ember' | 'dot' | 'dashed' | 'spin' | 'alert';
}

export function engineSign(state: AppState | undefined, lost: boolean): Sign {
  if (lost) return { word: 'connect.lost', icon: 'alert' };
  const active = state?.active;
  switch (active?.state) {
    case 'loading':
      return { word: isRestarting(active) ? 'status.restarting' : 'status.loading', icon: 'spin' };
    case 'unloading':
      return { word: 'status.unloading', icon: 'spin' };
    case 'failed':
      return { word: 'status.failed', icon: 'alert' };
    case 'ready':
      return (state?.running ?? 0) > 0
        ? { word: 'status.writing', icon: 'ember' }
        : { word: 'status.ready', icon: 'dot' };
    default:
      return { word: 'status.none', icon: 'dashed' };
  }
}

function Engine({ state, lost }: { state: AppState | undefined; lost: boolean }) {
  const t = useT();
  const sign = engineSign(state, lost);
  return (
    <a className="status-item status-engine" href={pageHref('models')} data-sign={sign.icon}>
      <SignIcon icon={sign.icon} />
      <span>{state || lost ? t(sign.word) : t('connect.starting')}</span>
      {state?.active && !lost && <bdi className="status-model">{state.active.name}</bdi>}
    </a>
  );
}

function SignIcon({ icon }: { icon: Sign['icon'] }) {
  if (icon === 'ember') return <Ember />;
  if (icon === 'spin') return <LoaderCircle className="spin" size={13} aria-hidden />;
  if (icon === 'alert') return <CircleAlert size={13} aria-hidden />;
  if (icon === 'dashed') return <CircleDashed size={12} aria-hidden />;
  return <Circle className="status-dot" size={9} aria-hidden />;
}

/** What comes next, and about when: nobody wonders why the model has not changed yet. */
function Swap({ state: { swap } }: { state: AppState }) {
  const t = useT();
  if (!swap) return null;
  return (
    <a className="status-item status-swap num" href={pageHref('models')}>
      <ArrowLeftRight size={13} aria-hidden />
      <span>{swapWords(t, swap, currentLanguage())}</span>
    </a>
  );
}

/** Nobody should look for a fault where a switch is off. */
function Offline() {
  const t = useT();
  if (!useSettings().data?.offline) return null;
  return (
    <a className="status-item status-offline" href={pageHref('settings', 'network')}>
      <WifiOff size={13} aria-hidden />
      <span>{t('network.offline')}</span>
    </a>
  );
}

function DownloadTray({ state: { downloads } }: { state: AppState }) {
  const t = useT();
  const words = trayWords(t, downloads, currentLanguage());
  if (words === undefined) return null;
  return (
    <a className="status-item status-downloads num" href={pageHref('models', 'downloads')}>
      <Download size={13} aria-hidden />
      <span>{words}</span>
    </a>
  );
}

/** Of the card that the model in front is on, else of the machine. */
function memoryOf({ memory: { engineBytes, systemTotal, systemFree, card } }: AppState) {
  if (!card) return { engineBytes, total: systemTotal, free: systemFree, card: false };
  const free = Math.max(0, card.totalBytes - card.engineBytes - card.otherBytes);
  return { engineBytes: card.engineBytes, total: card.totalBytes, free, card: true };
}

function Memory({ state }: { state: AppState }) {
  const t = useT();
  const language = currentLanguage();
  const { engineBytes, total: all, free, card } = memoryOf(state);
  const share = all > 0 ? Math.min(1, engineBytes / all) : 0;
  const used = bytes(engineBytes, language);
  const total = bytes(all, language);
  return (
    <span
      className="status-item status-memory num"
      title={t('status.memoryTitle', { used, free: bytes(free, language), total })}
    >
      <MemoryStick size={13} aria-hidden />
      <span>{t(card ? 'status.vram' : 'status.ram')}</span>
      <span className="status-bar" aria-hidden>
        <span style={{ transform: `scaleX(${Math.max(share, 0.02)})` }} />
      </span>
      <span>{t('status.memory', { used, total })}</span>
      {state.active?.spilledBytes !== undefined && <span className="status-spilling">{t('status.spilling')}</span>}
    </span>
  );
}

function Speed({ state }: { state: AppState }) {
  const t = useT();
  const language = currentLanguage();
  if (state.decodeTps > 0) {
    return (
      <span className="status-item status-live num">
        {t('status.speedNow', { speed: speed(state.decodeTps, language) })}
      </span>
    );
  }
  if (state.lastDecodeTps <= 0) return null;
  return (
    <span className="status-item status-speed num">
      {t('status.speedLast', { speed: speed(state.lastDecodeTps, language) })}
    </span>
  );
}

function Requests({ state }: { state: AppState }) {
  const t = useT();
  return (
    <a className="status-item status-requests num" href={pageHref('server')}>
      {state.running + state.waiting > 0 && (
        <span>{t('status.queue', { running: state.running, waiting: state.waiting })}</span>
      )}
      <span>{t('status.served', { count: state.requestsServed })}</span>
    </a>
  );
}

function Address({ state }: { state: AppState }) {
  const t = useT();
  const address = `${state.url.replace(/\/$/, '')}/v1`;
  const copy = async (): Promise<void> => {
    if (await copyText(address)) toast(t('common.copied'), { description: address, duration: 1500 });
  };
  return (
    <button
      type="button"
      className="status-item status-address num"
      aria-label={t('status.copyAddress', { address })}
      onClick={() => void copy()}
    >
      <Link2 size={13} aria-hidden />
      {address.replace(/^https?:\/\//, '')}
    </button>
  );
}
