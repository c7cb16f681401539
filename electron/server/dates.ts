// Days as the user's calendar has them.

/** YYYY-MM-DD, local time. */
export function isoDate(date: Date): string {
  const two = (value: number) => String(value).padStart(2, '0');
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
}
