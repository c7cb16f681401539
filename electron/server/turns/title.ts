// The title of a chat, from the first words that the user wrote in it. No model is asked.

const MAX_CHARACTERS = 48;

/** At most 48 characters of the first line that says something, cut between words where there are any. */
export function titleOf(text: string): string {
  const line = text
    .split('\n')
    .map((entry) =>
      entry
        .replace(/^[\s#>*`~-]+/, '')
        .replace(/\s+/g, ' ')
        .trim(),
    )
    .find((entry) => entry !== '');
  if (line === undefined) return '';
  const characters = [...line];
  if (characters.length <= MAX_CHARACTERS) return line;
  const cut = characters.slice(0, MAX_CHARACTERS).join('');
  const space = cut.lastIndexOf(' ');
  return `${(space > MAX_CHARACTERS / 2 ? cut.slice(0, space) : cut).replace(/[\s,;:.-]+$/, '')}…`;
}
