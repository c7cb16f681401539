// The key leaves the address at once; a link's text stands in the box and is not sent (ui-12).
import { beforeEach, describe, expect, it } from 'vitest';
import { takeFromAddress, token, tokenFromText } from '../../../renderer/api/token';
import { parsePage } from '../../../renderer/state/page';

describe('takeFromAddress', () => {
  beforeEach(() => sessionStorage.clear());

  it('takes the key out of the address and keeps the page', () => {
    history.replaceState(null, '', '/?q=Delete+all+files#token=abc%2B123&/models');
    expect(takeFromAddress()).toEqual({ prefill: 'Delete all files' });
    expect(token()).toBe('abc+123');
    expect(location.href).not.toMatch(/token|Delete/);
    expect(location.hash).toBe('#/models');
  });

  it('leaves an ordinary address alone', () => {
    history.replaceState(null, '', '/#/chat/c1');
    expect(takeFromAddress()).toEqual({ prefill: '' });
    expect(location.hash).toBe('#/chat/c1');
    expect(token()).toBeUndefined();
  });
});

describe('tokenFromText', () => {
  it.each([
    ['http://127.0.0.1:4327/#token=abcdefgh', 'abcdefgh'],
    ['  abcdefgh1234  ', 'abcdefgh1234'],
    ['not a key', undefined],
    ['', undefined],
  ])('%j', (text, expected) => expect(tokenFromText(text)).toBe(expected));
});

describe('parsePage', () => {
  it.each([
    ['', 'chat', undefined],
    ['#/chat/a%2Fb', 'chat', 'a/b'],
    ['#/models', 'models', undefined],
    ['#/nonsense', 'chat', undefined],
  ])('%j', (hash, name, chatId) => expect(parsePage(hash)).toEqual({ name, chatId }));
});
