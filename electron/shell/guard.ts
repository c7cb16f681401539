// Keeps the window to our own page: no navigation away, no new windows, no permissions, no webviews (Electron's security checklist).
import type { Session, WebContents } from 'electron';
import { isExternalPage, isOwnPage } from './links';
import type { Electron } from './types';

/** What a page may ask for. Everything else is refused, also by default. */
const PERMISSIONS = new Set(['clipboard-sanitized-write']);

export function guardSession(session: Session, origin: string): void {
  session.setPermissionRequestHandler((contents, permission, answer) => {
    answer(PERMISSIONS.has(permission) && isOwnPage(contents.getURL(), origin));
  });
  session.setPermissionCheckHandler(
    (_contents, permission, asking) => PERMISSIONS.has(permission) && isOwnPage(asking, origin),
  );
}

export function guardContents(electron: Pick<Electron, 'shell'>, contents: WebContents, origin: string): void {
  contents.on('will-navigate', (event, address) => {
    if (!isOwnPage(address, origin)) event.preventDefault();
  });
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(({ url }) => {
    if (isExternalPage(url)) void electron.shell.openExternal(url);
    return { action: 'deny' };
  });
}
