// While a paragraph grows, its open bold or code mark is closed for the eye, so that the words do not jump when the mark comes.
// Only for drawing: the source, and what is copied, stay as they came.

export function healOpenMarks(source: string): string {
  const lineStart = source.lastIndexOf('\n\n') + 1;
  const last = source.slice(lineStart);
  if (last.length > 4000) return source;
  const withoutCode = last.replace(/(`+)[^`]*?\1/g, '');
  if (withoutCode.includes('`')) {
    const open = /(`+)([^`]*)$/.exec(source);
    return open?.[1] && open[2] ? source + open[1] : source;
  }
  const marks = withoutCode.match(/\*\*/g)?.length ?? 0;
  if (marks % 2 === 0) return source;
  if (/\*\*\s*$/.test(source)) return source.replace(/\*\*\s*$/, '');
  return /\*$/.test(source) ? `${source}*` : `${source.trimEnd()}**`;
}
