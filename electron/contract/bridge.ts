// What the preload script gives to the page in the window. In a browser it is absent: the page then has its token from the address.
export interface Bridge {
  /** Of the app's own API. */
  token: string;
  platform: string;
  /** Commands of the menu and of links. Returns how to stop. */
  onCommand(listener: (command: ShellCommand) => void): () => void;
  /** The system's dialog: a path on this computer, or nothing where it was closed. */
  choosePath(what: PathKind): Promise<string | undefined>;
}

export type PathKind = 'folder' | 'file';

export type ShellCommand = { name: 'new-chat' | 'settings' } | { name: 'compose'; text: string };

export const BRIDGE_CHANNELS = {
  token: 'hearth:token',
  command: 'hearth:command',
  listening: 'hearth:listening',
  choosePath: 'hearth:choose-path',
} as const;
