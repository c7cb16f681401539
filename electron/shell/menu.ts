// The application menu as data. Its words follow the system's language; its commands go to the page.
import type { MenuItemConstructorOptions } from 'electron';
import type { ShellCommand } from '../contract/bridge';

const WORDS = {
  en: { file: 'File', newChat: 'New Chat', settings: 'Settings…', edit: 'Edit', view: 'View', window: 'Window' },
  zh: { file: '文件', newChat: '新对话', settings: '设置…', edit: '编辑', view: '显示', window: '窗口' },
};

export function menuTemplate(
  platform: string,
  locale: string,
  send: (command: ShellCommand) => void,
): MenuItemConstructorOptions[] {
  const words = locale.startsWith('zh') ? WORDS.zh : WORDS.en;
  const settings: MenuItemConstructorOptions = {
    label: words.settings,
    accelerator: 'CmdOrCtrl+,',
    click: () => send({ name: 'settings' }),
  };
  const file: MenuItemConstructorOptions[] = [
    { label: words.newChat, accelerator: 'CmdOrCtrl+N', click: () => send({ name: 'new-chat' }) },
    { type: 'separator' },
  ];
  const mac = platform === 'darwin';
  return [
    ...(mac ? [{ role: 'appMenu' as const }] : []),
    {
      label: words.file,
      submenu: [...file, ...(mac ? [settings, { role: 'close' as const }] : [settings, { role: 'quit' as const }])],
    },
    { label: words.edit, role: 'editMenu' },
    {
      label: words.view,
      // No reload: Ctrl+R belongs to the page (regenerate).
      submenu: [
        { role: 'resetZoom' },
        { role: 'zoomIn' },
        { role: 'zoomOut' },
        { type: 'separator' },
        { role: 'togglefullscreen' },
      ],
    },
    { label: words.window, role: 'windowMenu' },
  ];
}
