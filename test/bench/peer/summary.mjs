// What the runs say: per part the medians and spreads of both sides and the median of the pairs' ratios. Pure functions.
import { PARTS } from './parts.mjs';

export function median(values) {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** How many times better Hearth is: faster, sooner or smaller. */
function advantage(name, llama, hearth) {
  return PARTS[name].unit === 'tokens/s' ? hearth / llama : llama / hearth;
}

/** `runs`: [{pair, side, parts}] in the order in which they were made. A pair counts for a part when both of its sides have it. */
export function summarise(runs) {
  const rows = {};
  for (const name of Object.keys(PARTS)) {
    const pairs = new Map();
    for (const { pair, side, parts } of runs) {
      if (parts[name] !== undefined) pairs.set(pair, { ...pairs.get(pair), [side]: parts[name] });
    }
    const whole = [...pairs.values()].filter(({ llama, hearth }) => llama !== undefined && hearth !== undefined);
    if (whole.length === 0) continue;
    rows[name] = {
      llama: spread(whole.map(({ llama }) => llama)),
      hearth: spread(whole.map(({ hearth }) => hearth)),
      ratio: spread(whole.map(({ llama, hearth }) => advantage(name, llama, hearth))),
      pairs: whole.length,
    };
  }
  return rows;
}

function spread(values) {
  return { median: median(values), least: Math.min(...values), most: Math.max(...values) };
}

const show = (value) => (value >= 100 ? value.toFixed(0) : value >= 10 ? value.toFixed(1) : value.toFixed(2));
const cell = ({ median: middle, least, most }) => `${show(middle)} (${show(least)}–${show(most)})`;

/** A table for docs/measurements. */
export function markdown(rows) {
  const lines = Object.entries(rows).map(([name, { llama, hearth, ratio, pairs }]) => {
    const { title, unit } = PARTS[name];
    return `| ${title}, ${unit} | ${cell(llama)} | ${cell(hearth)} | **${cell(ratio)}** | ${pairs} |`;
  });
  const head = ['| median (least–most) | peer | Hearth | Hearth is better by | pairs |', '|---|---|---|---|---|'];
  return `${[...head, ...lines].join('\n')}\n`;
}
