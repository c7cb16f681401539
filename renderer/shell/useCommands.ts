// Commands from the window's menu and from links, where there is such a window.
import { useEffect } from 'react';
import { prefill } from '../composer/prefill';
import { goTo } from '../state/page';

export function useCommands(): void {
  useEffect(
    () =>
      window.hearth?.onCommand((command) => {
        if (command.name === 'settings') return goTo('settings');
        goTo('chat');
        if (command.name === 'compose') prefill(command.text);
      }),
    [],
  );
}
