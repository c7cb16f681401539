// Starts the page: address, language, theme, the state's stream; then hands over to React.
import './styles/tokens.css';
import './styles/base.css';
import { QueryClientProvider } from '@tanstack/react-query';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { takeFromAddress, token } from './api/token';
import { App } from './App';
import { prefill } from './composer/prefill';
import { pickLanguage, startI18n } from './i18n';
import { beginFollowing } from './shell/follow';
import { startLive } from './state/actions';
import { queryClient } from './state/queries';
import { startTheme } from './state/theme';

async function start(): Promise<void> {
  const { prefill: text } = takeFromAddress();
  // The text of a link may stand in the box of a new chat; only the user sends it.
  if (text) prefill(text);
  startTheme();
  startLive();
  await startI18n(pickLanguage(navigator.languages));
  if (token()) beginFollowing();
  const root = document.getElementById('root');
  if (!root) return;
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <App />
      </QueryClientProvider>
    </StrictMode>,
  );
}

void start();
