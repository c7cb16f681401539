// How a command says what it found and what went wrong: one plain sentence and what to do about it, or JSON. Exit codes.
import { HearthError, type ErrorCode } from '../contract/errors';

export interface Io {
  out(text: string): void;
  err(text: string): void;
  /** Colours and progress may be written. */
  terminal: boolean;
}

export const processIo: Io = {
  out: (text) => void process.stdout.write(text),
  err: (text) => void process.stderr.write(text),
  terminal: Boolean(process.stdout.isTTY && process.stderr.isTTY),
};

export function dim(io: Io, text: string): string {
  return io.terminal ? `\u001b[2m${text}\u001b[22m` : text;
}

export function json(io: Io, value: unknown): void {
  io.out(`${JSON.stringify(value)}\n`);
}

/** Tells a failure and gives the exit code. */
export function report(io: Io, thrown: unknown, asJson: boolean): number {
  const error = HearthError.from(thrown);
  const remedy = REMEDIES[error.code] ?? error.remedy;
  if (asJson) json(io, { error: { ...error.toShape(), remedy } });
  else io.err(`${sentence(error.message)} ${remedy}\n`);
  return 1;
}

/** Where the contract's remedy is one for programs. */
const REMEDIES: Partial<Record<ErrorCode, string>> = {
  model_not_found: 'List the models with `hearth ls`, or give the path of a file.',
};

export function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

/** Decimal units, as file managers show them. */
export function bytes(count: number): string {
  let value = count;
  let unit = 0;
  while (value >= 1000 && unit < UNITS.length - 1) {
    value /= 1000;
    unit += 1;
  }
  return `${value >= 100 || unit === 0 ? Math.round(value) : value.toFixed(1)} ${UNITS[unit]}`;
}

/** Columns as wide as their widest cell. */
export function table(rows: string[][]): string {
  const widths: number[] = [];
  for (const row of rows) row.forEach((cell, i) => (widths[i] = Math.max(widths[i] ?? 0, cell.length)));
  const line = (row: string[]) =>
    row.map((cell, i) => cell.padEnd(i < row.length - 1 ? (widths[i] ?? 0) : 0)).join('  ');
  return rows.map((row) => `${line(row).trimEnd()}\n`).join('');
}

const BAR_CELLS = 20;

/** `[######--------------]  30 %` */
export function progressBar(fraction: number): string {
  const part = Math.min(1, Math.max(0, fraction));
  const full = Math.round(part * BAR_CELLS);
  return `[${'#'.repeat(full)}${'-'.repeat(BAR_CELLS - full)}] ${String(Math.round(part * 100)).padStart(3)} %`;
}
