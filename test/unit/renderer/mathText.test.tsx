// Formulas are set, money is not, and code keeps its dollars.
import { render, waitFor } from '@testing-library/react';
import { describe, expect, it } from 'vitest';
import { Markdown } from '../../../renderer/markdown/Markdown';
import { prepareMath } from '../../../renderer/markdown/mathText';

describe('money is not taken for a formula', () => {
  it.each([
    'It costs $5.',
    'Between $5 and $10.',
    'From $5-$10 a day, or $1,200.50 (about US$1,300).',
    'Cheap ($5 or 5$).',
    '$AAPL and $TSLA rose.',
    'echo $HOME:$PATH',
    'A$5 and NZ$6',
    'costs $$ and $$ more',
    'pay $20 now, $30 later and $50 at the end',
    'He has $100, she has $200.',
    'only one $ here',
  ])('%s', (text) => {
    expect(prepareMath(text).hasMath).toBe(false);
  });
});

describe('a formula is recognised', () => {
  it.each([
    ['$x$', '$$x$$'],
    ['so $E = mc^2$ holds', 'so $$E = mc^2$$ holds'],
    ['\\(a+b\\)', '$$a+b$$'],
    ['$5x + 3 = 0$', '$$5x + 3 = 0$$'],
    ['cost \\$5 and $n$', 'cost \\$5 and $$n$$'],
    ['$\\alpha$-decay', '$$\\alpha$$-decay'],
    ['Euler: $$e^{i\\pi}+1=0$$ as inline', 'Euler: $$e^{i\\pi}+1=0$$ as inline'],
  ])('%s', (text, expected) => {
    expect(prepareMath(text)).toEqual({ source: expected, hasMath: true });
  });

  it('is displayed where it stands alone', () => {
    expect(prepareMath('\\[ x = 1 \\]').source).toBe('$$\nx = 1\n$$');
    expect(prepareMath('- item\n\n  $$x = 1$$').source).toBe('- item\n\n  $$\n  x = 1\n  $$');
  });

  it('does not swallow money beside it', () => {
    expect(prepareMath('costs $5 while $x > 3$').source).toBe('costs \\$5 while $$x > 3$$');
  });
});

describe('code', () => {
  it.each(['`$x$` and `\\(y\\)`', '```sh\necho $x$\n```', '- a\n  ```\n  \\[x\\]\n  ```', '``a ` $x$``'])(
    'keeps its dollars: %s',
    (text) => {
      expect(prepareMath(text)).toEqual({ source: text, hasMath: false });
    },
  );
});

describe('drawn', () => {
  it('sets formulas by KaTeX and shows no raw TeX', async () => {
    const { container } = render(<Markdown text={'For $\\frac{1}{2}$ of $5:\n\n\\[\na = b\n\\]'} growing={false} />);
    await waitFor(() => expect(container.querySelectorAll('.katex')).toHaveLength(2));
    expect(container.querySelector('.katex-display')).not.toBeNull();
    expect(container.textContent).toContain('$5');
    expect(container.textContent).not.toContain('\\[');
  });

  it('shows a broken formula instead of failing', async () => {
    const { container } = render(<Markdown text={'$\\frac{1$ and $x^2$'} growing={false} />);
    await waitFor(() => expect(container.querySelector('.katex')).not.toBeNull());
    expect(container.textContent).toContain('frac');
  });
});
