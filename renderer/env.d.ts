// What the preload script may put on the window.
interface Window {
  hearth?: { token?: string };
}
