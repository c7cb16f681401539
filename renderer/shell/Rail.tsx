// The way between pages: a narrow column of icons with their words, a row at the bottom on small screens.
import { MessageCircle, PlugZap, Settings2, Shapes } from 'lucide-react';
import type { ComponentType } from 'react';
import { useT } from '../i18n';
import { Mark } from '../parts/Mark';
import { type PageName, chatHref, pageHref, usePage } from '../state/page';

const ICONS: Record<PageName, ComponentType<{ size?: number; strokeWidth?: number }>> = {
  chat: MessageCircle,
  models: Shapes,
  server: PlugZap,
  settings: Settings2,
};

export function Rail() {
  const t = useT();
  return (
    <nav className="rail" aria-label={t('nav.label')}>
      <span className="rail-mark">
        <Mark />
      </span>
      <RailLink page="chat" />
      <RailLink page="models" />
      <RailLink page="server" />
      <span className="rail-gap" />
      <RailLink page="settings" />
    </nav>
  );
}

function RailLink({ page }: { page: PageName }) {
  const t = useT();
  const { name } = usePage();
  const Icon = ICONS[page];
  return (
    <a
      className="rail-link"
      href={page === 'chat' ? chatHref() : pageHref(page)}
      aria-current={name === page ? 'page' : undefined}
    >
      <Icon size={20} strokeWidth={1.75} />
      <span>{t(`nav.${page}`)}</span>
    </a>
  );
}
