// The window: rail, the page that was asked for, status bar. Follows the settings for language and theme.
import { Tooltip } from 'radix-ui';
import { useEffect } from 'react';
import { Toaster } from 'sonner';
import { token } from './api/token';
import { pickLanguage, setLanguage, useT } from './i18n';
import { LoadDialog } from './load/LoadDialog';
import { ChatPage } from './pages/ChatPage';
import { ConnectPage } from './pages/ConnectPage';
import { ModelsPage } from './pages/ModelsPage';
import { ServerPage } from './pages/ServerPage';
import { SettingsPage } from './pages/SettingsPage';
import { Rail } from './shell/Rail';
import { StatusBar } from './shell/StatusBar';
import { useCommands } from './shell/useCommands';
import { useKeys } from './shell/useKeys';
import { useApp } from './state/app';
import { type Page, usePage } from './state/page';
import { useSettings } from './state/queries';
import { applyTheme } from './state/theme';
import './shell/shell.css';

export function App() {
  const refused = useApp((app) => app.connection === 'refused');
  if (!token() || refused) return <ConnectPage refused={refused} />;
  return <Window />;
}

function Window() {
  const t = useT();
  const page = usePage();
  useFollowSettings();
  useKeys();
  useCommands();
  return (
    <Tooltip.Provider delayDuration={400}>
      <div className="window" data-page={page.name}>
        <a
          className="skip"
          href="#main"
          onClick={(event) => (event.preventDefault(), document.getElementById('main')?.focus())}
        >
          {t('app.skip')}
        </a>
        <Rail />
        <main id="main" tabIndex={-1}>
          <PageView page={page} />
        </main>
        <StatusBar />
        <LoadDialog />
      </div>
      <Toaster position="bottom-left" offset={{ bottom: 40, left: 84 }} mobileOffset={{ bottom: 96 }} gap={8} />
    </Tooltip.Provider>
  );
}

function PageView({ page: { name, chatId, part } }: { page: Page }) {
  switch (name) {
    case 'models':
      return <ModelsPage part={part} />;
    case 'server':
      return <ServerPage />;
    case 'settings':
      return <SettingsPage part={part} />;
    default:
      return <ChatPage chatId={chatId} />;
  }
}

function useFollowSettings(): void {
  const { data: settings } = useSettings();
  const theme = settings?.theme;
  const language = settings?.language;
  useEffect(() => {
    if (theme) applyTheme(theme);
  }, [theme]);
  useEffect(() => {
    if (language) void setLanguage(language === 'auto' ? pickLanguage(navigator.languages) : language);
  }, [language]);
}
