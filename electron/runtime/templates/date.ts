// strftime for templates, on a date that the caller fixes: a prompt must not change over midnight.

const MONTHS = [
  'January',
  'February',
  'March',
  'April',
  'May',
  'June',
  'July',
  'August',
  'September',
  'October',
  'November',
  'December',
];
const DAYS = ['Sunday', 'Monday', 'Tuesday', 'Wednesday', 'Thursday', 'Friday', 'Saturday'];
/** What Llama's templates say where nobody tells them the date. */
const UNKNOWN = '2024-07-26';

/** `iso`: YYYY-MM-DD. Unknown directives stay as they are; the time is midnight. */
export function formatDate(iso: string | undefined, format: string): string {
  const parsed = new Date(`${(iso ?? UNKNOWN).slice(0, 10)}T00:00:00Z`);
  const date = Number.isNaN(parsed.getTime()) ? new Date(`${UNKNOWN}T00:00:00Z`) : parsed;
  const two = (n: number) => String(n).padStart(2, '0');
  const values: Record<string, string> = {
    Y: String(date.getUTCFullYear()),
    y: two(date.getUTCFullYear() % 100),
    m: two(date.getUTCMonth() + 1),
    d: two(date.getUTCDate()),
    B: MONTHS[date.getUTCMonth()]!,
    b: MONTHS[date.getUTCMonth()]!.slice(0, 3),
    A: DAYS[date.getUTCDay()]!,
    a: DAYS[date.getUTCDay()]!.slice(0, 3),
    H: '00',
    I: '12',
    M: '00',
    S: '00',
    p: 'AM',
    '%': '%',
  };
  return format.replace(/%-?(.)/gs, (whole, c: string) => {
    const value = values[c];
    if (value === undefined) return whole;
    return whole.length === 3 ? value.replace(/^0(?=.)/, '') : value;
  });
}
