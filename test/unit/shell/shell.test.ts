// The window, with an Electron made of mocks: what it lets in, and how it begins and ends.
import { describe, expect, it, vi } from 'vitest';
import { deepLinkOf, isExternalPage, isOwnPage, parseDeepLink } from '../../../electron/shell/links';
import { menuTemplate } from '../../../electron/shell/menu';
import { startShell } from '../../../electron/shell/shell';
import { readWindowState } from '../../../electron/shell/window-state';
import { FakeContents, FakeWindow, fakeElectron } from './fake-electron';

const origin = 'http://127.0.0.1:4327';

function start(fake = fakeElectron(), argv: string[] = []) {
  const close = vi.fn(async () => {});
  const startApp = vi.fn(async () => ({ url: `${origin}/`, token: 'secret', close }));
  const done = startShell(fake.electron, { argv, platform: 'linux', preload: '/app/preload.cjs', startApp });
  return { ...fake, close, startApp, done };
}

describe('a page of another site cannot use the window', () => {
  it.each([
    ['http://127.0.0.1:4327/chat', true],
    ['http://127.0.0.1:4327.evil.example/', false],
    ['http://127.0.0.1:4328/', false],
    ['http://localhost:4327/', false],
    ['https://127.0.0.1:4327/', false],
    ['file:///etc/passwd', false],
    ['not an address', false],
  ])('%s is our own page: %s', (address, own) => expect(isOwnPage(address, origin)).toBe(own));

  it('navigation, new windows, webviews and permissions are refused', async () => {
    const { parts, done } = start();
    await done;
    const contents = new FakeContents();
    parts.app.emit('web-contents-created', {}, contents);
    const prevented = (event: string, address: string) => {
      const preventDefault = vi.fn();
      contents.emit(event, { preventDefault }, address);
      return preventDefault.mock.calls.length === 1;
    };
    expect(prevented('will-navigate', 'https://evil.example/')).toBe(true);
    expect(prevented('will-navigate', `${origin}/models`)).toBe(false);
    expect(prevented('will-attach-webview', '')).toBe(true);
    expect(contents.openHandler?.({ url: 'https://example.org/' })).toEqual({ action: 'deny' });
    expect(contents.openHandler?.({ url: 'file:///etc/passwd' })).toEqual({ action: 'deny' });
    expect(parts.shell.openExternal.mock.calls).toEqual([['https://example.org/']]);

    const ask = parts.session.defaultSession.setPermissionRequestHandler.mock.calls[0]?.[0];
    contents.url = `${origin}/`;
    const answer = vi.fn();
    ask(contents, 'geolocation', answer);
    ask(contents, 'clipboard-sanitized-write', answer);
    expect(answer.mock.calls).toEqual([[false], [true]]);
  });

  it('only our own page may ask for a path, in the dialog of the system', async () => {
    const { parts, done } = start();
    await done;
    const ask = (url: string, what: unknown) =>
      parts.ipcMain.handlers.get('hearth:choose-path')?.({ senderFrame: { url } }, what);
    expect(await ask('https://evil.example/', 'file')).toBeUndefined();
    expect(parts.dialog.showOpenDialog).not.toHaveBeenCalled();
    expect(await ask(`${origin}/`, 'file')).toBe('/media/models');
    expect(await ask(`${origin}/`, 'folder')).toBe('/media/models');
    const options = parts.dialog.showOpenDialog.mock.calls.map((args) => args.at(-1));
    expect(options).toEqual([{ properties: ['openFile'] }, { properties: ['openDirectory'] }]);
  });

  it('only our own page is given the token', async () => {
    const { parts, done } = start();
    await done;
    const ask = (url: string) => {
      const event = { senderFrame: { url }, returnValue: undefined };
      parts.ipcMain.emit('hearth:token', event);
      return event.returnValue;
    };
    expect(ask(`${origin}/`)).toBe('secret');
    expect(ask('https://evil.example/')).toBe('');
  });

  it('the window is sandboxed and isolated', async () => {
    const { done } = start();
    await done;
    expect(FakeWindow.all[0]?.options.webPreferences).toMatchObject({
      sandbox: true,
      contextIsolation: true,
      nodeIntegration: false,
      webSecurity: true,
    });
  });
});

describe('links never send a message by themselves', () => {
  it.each([
    ['hearth://chat?q=Delete+all+files', { name: 'compose', text: 'Delete all files' }],
    ['hearth://chat', { name: 'new-chat' }],
    ['hearth://settings/reset', undefined],
    ['https://chat?q=x', undefined],
    ['hearth:', undefined],
  ])('%s', (address, command) => expect(parseDeepLink(address)).toEqual(command));

  it('a very long link is cut', () => {
    const command = parseDeepLink(`hearth://chat?q=${'a'.repeat(50_000)}`);
    expect(command).toMatchObject({ name: 'compose' });
    expect(command && 'text' in command && command.text.length).toBe(10_000);
  });

  it('a second start hands its link to the first', async () => {
    const { parts, done } = start();
    await done;
    parts.ipcMain.emit('hearth:listening');
    parts.app.emit('second-instance', {}, ['hearth', '--flag', 'hearth://chat?q=hi']);
    expect(deepLinkOf(['--flag'])).toBeUndefined();
    expect(FakeWindow.all[0]?.focus).toHaveBeenCalled();
    expect(FakeWindow.all[0]?.webContents.sent).toEqual([['hearth:command', { name: 'compose', text: 'hi' }]]);
  });

  it('a link that comes before the page listens is kept for it', async () => {
    const { parts, done } = start(fakeElectron(), ['hearth', 'hearth://chat?q=early']);
    await done;
    expect(FakeWindow.all[0]?.webContents.sent).toEqual([]);
    parts.ipcMain.emit('hearth:listening');
    expect(FakeWindow.all[0]?.webContents.sent).toEqual([['hearth:command', { name: 'compose', text: 'early' }]]);
  });

  it.each(['https://example.org', 'http://example.org', 'javascript:alert(1)'])(
    '%s leaves only over https',
    (address) => expect(isExternalPage(address)).toBe(address.startsWith('https:')),
  );
});

describe('starting and ending', () => {
  it('a second instance starts no second app', async () => {
    const { parts, startApp, done } = start(fakeElectron({ firstInstance: false }));
    expect(await done).toBe(false);
    expect(startApp).not.toHaveBeenCalled();
    expect(parts.app.quit).toHaveBeenCalled();
  });

  it('a failed start is explained instead of an empty window', async () => {
    const fake = fakeElectron();
    const startApp = async () => Promise.reject(new Error('Hearth is already running at http://127.0.0.1:4327/.'));
    expect(await startShell(fake.electron, { argv: [], platform: 'linux', preload: '', startApp })).toBe(false);
    expect(fake.parts.dialog.showErrorBox).toHaveBeenCalledWith('Hearth', expect.stringContaining('already running'));
    expect(FakeWindow.all).toHaveLength(0);
  });

  it('quitting waits until the children have ended', async () => {
    const { parts, close, done } = start();
    await done;
    const event = { preventDefault: vi.fn() };
    parts.app.emit('will-quit', event);
    expect(event.preventDefault).toHaveBeenCalled();
    await vi.waitFor(() => expect(parts.app.quit).toHaveBeenCalled());
    expect(close).toHaveBeenCalledOnce();
    const again = { preventDefault: vi.fn() };
    parts.app.emit('will-quit', again);
    expect(again.preventDefault).not.toHaveBeenCalled();
  });

  it('an unreadable window state gives the default window', () => {
    expect(readWindowState('/nonexistent/window.json')).toEqual({ width: 1240, height: 820 });
  });

  it('the menu has no reload that would take Ctrl+R from the page', () => {
    const text = JSON.stringify(menuTemplate('linux', 'zh-CN', () => {}));
    expect(text).not.toContain('reload');
    expect(text).toContain('新对话');
  });
});
