// What the preload script may put on the window; absent in a browser.
import type { Bridge } from '@contract/bridge';

declare global {
  interface Window {
    hearth?: Bridge;
  }
}
