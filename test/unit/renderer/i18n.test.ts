// Every sentence exists in every language, with the same values in it, and every error has words and a remedy.
import { ERRORS } from '@contract/errors';
import { afterAll, describe, expect, it } from 'vitest';
import { pickLanguage, setLanguage, t } from '../../../renderer/i18n';
import { en } from '../../../renderer/i18n/en';
import { zhCN } from '../../../renderer/i18n/zh-CN';

const names = (text: string): string[] => [...text.matchAll(/\{\{(\w+)/g)].map((match) => match[1] ?? '').sort();

const english = Object.entries(en).filter(([key]) => !key.endsWith('_one'));
const chinese: Record<string, string | undefined> = zhCN;

describe('catalogues', () => {
  it('have the same keys', () => {
    const keys = Object.keys(zhCN).filter((key) => !key.endsWith('_one'));
    expect(keys.sort()).toEqual(english.map(([key]) => key).sort());
  });

  it.each(english)('%s has the same values in both', (key, text) => {
    expect(chinese[key]).toBeTruthy();
    expect(names(chinese[key] ?? '')).toEqual(names(text));
  });

  it('have words and a remedy for every error code', () => {
    for (const code of Object.keys(ERRORS)) {
      expect(en).toHaveProperty([`error.${code}`]);
      expect(en).toHaveProperty([`remedy.${code}`]);
    }
  });

  it('shout nowhere', () => {
    for (const [key, text] of [...english, ...Object.entries(chinese)])
      expect(`${key}: ${text ?? ''}`).not.toMatch(/[!！]/);
  });
});

describe('t', () => {
  afterAll(() => setLanguage('en'));

  it('forms plurals in English', () => {
    expect(t('status.served', { count: 1 })).toBe('1 request served');
    expect(t('status.served', { count: 12345 })).toBe('12,345 requests served');
  });

  it('follows the language', async () => {
    await setLanguage('zh-CN');
    expect(t('status.served', { count: 1 })).toBe('已答 1 个请求');
    expect(document.documentElement.lang).toBe('zh-CN');
  });

  it('never treats what it is given as markup or as a key', async () => {
    await setLanguage('en');
    expect(t('chats.deleted', { title: '<b>{{x}}</b> $t(nav.chat)' })).toContain('<b>');
  });

  it.each([
    [['zh-TW', 'en'], 'zh-CN'],
    [['de', 'en-GB'], 'en'],
    [['fr'], 'en'],
    [[], 'en'],
  ])('picks a language for %j', (wishes, expected) => expect(pickLanguage(wishes)).toBe(expected));
});
