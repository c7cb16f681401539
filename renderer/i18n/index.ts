// Typed access to the catalogues: a missing key, a missing value or a wrong language fails the type check. Knows no component.
import i18next from 'i18next';
import { initReactI18next, useTranslation } from 'react-i18next';
import { en } from './en';
import { zhCN } from './zh-CN';

type English = typeof en;
type RawKey = keyof English & string;

/** A key as code names it: plural forms share one. */
export type Key = RawKey extends infer K ? (K extends `${infer Base}_one` | `${infer Base}_other` ? Base : K) : never;

/** Another language's words for the same keys. Forms for `_one` are optional: not every language has them. */
export type CatalogueOf<T> = { [K in keyof T as K extends `${string}_one` ? never : K]: string } & {
  [K in keyof T as K extends `${string}_one` ? K : never]?: string;
};
export type Catalogue = CatalogueOf<English>;

type Bare<N extends string> = N extends `${infer Name}, ${string}` ? Name : N;
type Names<S> = S extends `${string}{{${infer N}}}${infer Rest}` ? Bare<N> | Names<Rest> : never;
type Text<K extends Key> = K extends RawKey ? English[K] : `${K}_other` extends RawKey ? English[`${K}_other`] : never;
type Values<K extends Key> = [Names<Text<K>>] extends [never] ? [] : [values: Record<Names<Text<K>>, string | number>];

export type Translate = <K extends Key>(key: K, ...values: Values<K>) => string;

export const LANGUAGES = ['en', 'zh-CN'] as const;
export type Language = (typeof LANGUAGES)[number];

/** The best of our languages for the browser's wishes. */
export function pickLanguage(wishes: readonly string[]): Language {
  for (const wish of wishes) {
    if (wish.toLowerCase().startsWith('zh')) return 'zh-CN';
    if (wish.toLowerCase().startsWith('en')) return 'en';
  }
  return 'en';
}

export async function startI18n(language: Language): Promise<void> {
  await i18next.use(initReactI18next).init({
    lng: language,
    fallbackLng: 'en',
    resources: { en: { translation: en }, 'zh-CN': { translation: zhCN } },
    keySeparator: false,
    nsSeparator: false,
    interpolation: { escapeValue: false },
    returnNull: false,
  });
  document.documentElement.lang = language;
}

export async function setLanguage(language: Language): Promise<void> {
  document.documentElement.lang = language;
  if (i18next.language !== language) await i18next.changeLanguage(language);
}

export const currentLanguage = (): Language => (i18next.language === 'zh-CN' ? 'zh-CN' : 'en');

/** For code outside React; components use `useT`, which follows a change of language. */
export const t: Translate = (key, ...values) => i18next.t(key as never, values[0] as never) as unknown as string;

export function useT(): Translate {
  const { i18n } = useTranslation();
  // A new function per language, so that memoised components follow.
  return translators[i18n.language === 'zh-CN' ? 'zh-CN' : 'en'];
}
const translators: Record<Language, Translate> = {
  en: (key, ...values) => t(key, ...values),
  'zh-CN': (key, ...values) => t(key, ...values),
};
