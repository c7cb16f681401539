// The matrix as a Markdown table, for a report or an issue. Pure; names of models cannot break out of their cell.
import type { MatrixRow } from '../../contract/models';

const HEAD = [
  'Model',
  'Version',
  'Engine',
  'Device',
  'KV',
  'Context',
  'Load ms',
  'Prefill t/s',
  'Decode t/s',
  'TTFT ms',
  'Memory MB',
  'Self-check',
  'KL',
  'Worse',
  'From',
  'Date',
];

const SHOWN_ID = 12;

/** One line, with everything that means something in a table taken literally. */
const text = (value: string) => value.replace(/\s+/g, ' ').replace(/[\\|`*_<>[\]]/g, '\\$&');
const number = (value: number | undefined, digits = 0) => (value === undefined ? '–' : value.toFixed(digits));

function line(row: MatrixRow): string[] {
  return [
    text(row.model),
    text(row.modelId.slice(0, SHOWN_ID)),
    text(row.engineBuild),
    text(row.device),
    row.kvType,
    row.contextBucket === 0 ? '–' : `≤ ${row.contextBucket}`,
    number(row.loadMs),
    number(row.prefillTps, 1),
    number(row.decodeTps, 1),
    number(row.ttftMs),
    number(row.memoryBytes === undefined ? undefined : row.memoryBytes / 1e6),
    row.selfCheck,
    row.kl === undefined ? '–' : row.kl.toExponential(2),
    row.regressions.join(', ') || '–',
    row.source,
    new Date(row.at).toISOString().slice(0, 10),
  ];
}

export function matrixMarkdown(rows: readonly MatrixRow[]): string {
  const cells = [HEAD, HEAD.map(() => '---'), ...rows.map(line)];
  return `${cells.map((row) => `| ${row.join(' | ')} |`).join('\n')}\n`;
}
