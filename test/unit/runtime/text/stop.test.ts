// Stop strings, wherever the tokens cut them.
import { describe, expect, it } from 'vitest';
import { StopMatcher } from '../../../../electron/runtime/text';
import { cpuTime } from '../cpu-time';

/** Feeds `text` in pieces of `size` characters; gives what was shown and how it ended. */
function feed(
  text: string,
  stops: string[],
  size: number,
): { shown: string; stopped: string | undefined; most: number } {
  const matcher = new StopMatcher(stops);
  let shown = '';
  let fed = 0;
  let most = 0;
  for (let at = 0; at < text.length; at += size) {
    const result = matcher.push(text.slice(at, at + size));
    shown += result.text;
    fed = Math.min(text.length, at + size);
    if (result.stopped !== undefined) return { shown, stopped: result.stopped, most };
    most = Math.max(most, fed - shown.length);
  }
  return { shown: shown + matcher.finish(), stopped: undefined, most };
}

describe('stop strings', () => {
  it.each([1, 2, 3, 7, 100])('are found across token boundaries and never shown (%i characters at a time)', (size) => {
    const got = feed('{"v":"alpha beta gamma delta"}', ['beta gamma'], size);
    expect(got).toMatchObject({ shown: '{"v":"alpha ', stopped: 'beta gamma' });
  });

  it('that never complete do not swallow text', () => {
    expect(feed('aab aac aa', ['aad'], 1)).toMatchObject({ shown: 'aab aac aa', stopped: undefined });
  });

  it('overlapping themselves are found at the first place', () => {
    expect(feed('xaaab', ['aab'], 1)).toMatchObject({ shown: 'xa', stopped: 'aab' });
    expect(feed('ababac!', ['abac'], 1)).toMatchObject({ shown: 'ab', stopped: 'abac' });
  });

  it('stop at the earliest of several', () => {
    expect(feed('one two three', ['three', 'two', 'wo'], 100)).toMatchObject({ shown: 'one ', stopped: 'two' });
  });

  it('hold back no more than their own beginning', () => {
    const text = 'no stop here, only nonsense: nnnooonnno';
    expect(feed(text, ['nop!'], 1).most).toBeLessThanOrEqual(3);
    expect(feed('plain text', ['\n\n'], 1).most).toBe(0);
  });

  it('may be sixteen long ones without slowing the stream down', () => {
    const stops = Array.from({ length: 16 }, (_, i) => 'a'.repeat(200) + i);
    let shown = '';
    expect(cpuTime(() => ({ shown } = feed('a'.repeat(20_000), stops, 4)))).toBeLessThan(5_000);
    expect(shown.length).toBe(20_000);
  });

  it('end the text for good', () => {
    const matcher = new StopMatcher(['END']);
    expect(matcher.push('a END b')).toEqual({ text: 'a ', stopped: 'END', rest: ' b' });
    expect(matcher.push('more')).toEqual({ text: '', stopped: 'END', rest: 'more' });
    expect(matcher.finish()).toBe('');
  });
});
