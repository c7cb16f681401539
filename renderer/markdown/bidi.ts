// Characters that turn the direction of text around can make code read differently from what it does. In code they are made visible.
const TURNING = /[\u202a-\u202e\u2066-\u2069]/g;

export function showTurning(text: string): string {
  return text.replace(TURNING, (char) => `⟨U+${char.charCodeAt(0).toString(16).toUpperCase()}⟩`);
}
