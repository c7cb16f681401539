// Lets a text field grow with its text where the browser cannot do it by style alone.
const byStyle = typeof CSS !== 'undefined' && CSS.supports?.('field-sizing', 'content');

export function growField(field: HTMLTextAreaElement | null): void {
  if (!field || byStyle) return;
  field.style.height = 'auto';
  field.style.height = `${field.scrollHeight}px`;
}
