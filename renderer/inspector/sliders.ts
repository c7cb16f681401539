// The four plain sliders as data: their steps, the usual one, and the sentence that says what a step means.
import type { ActiveModel, AnswerLength, ChatSettings, Creativity, Memory } from '@contract/own';
import type { Effort } from '@contract/chat';
import type { Language, Translate } from '../i18n';
import { decimal, pagesOf, whole } from '../parts/format';

/** What the sentences may depend on. */
export interface SliderContext {
  active: ActiveModel | undefined;
  language: Language;
}

export interface Slider<T extends string> {
  steps: readonly T[];
  usual: T;
  title: (t: Translate) => string;
  low: (t: Translate) => string;
  high: (t: Translate) => string;
  meaning: (t: Translate, step: T, context: SliderContext) => string;
}

export const LENGTH: Slider<AnswerLength> = {
  steps: ['short', 'medium', 'long', 'unlimited'],
  usual: 'unlimited',
  title: (t) => t('slider.length'),
  low: (t) => t('slider.length.low'),
  high: (t) => t('slider.length.high'),
  meaning: (t, step) => t(`slider.length.${step}`),
};

export const CREATIVITY: Slider<Creativity> = {
  steps: ['precise', 'balanced', 'imaginative'],
  usual: 'balanced',
  title: (t) => t('slider.creativity'),
  low: (t) => t('slider.creativity.low'),
  high: (t) => t('slider.creativity.high'),
  meaning: (t, step, { active, language }) => {
    const temperature = active?.defaultTemperature;
    if (step !== 'balanced' || temperature === undefined) return t(`slider.creativity.${step}`);
    return t('slider.creativity.balancedAt', { temperature: decimal(temperature, 1, language) });
  },
};

export const MEMORY: Slider<Memory> = {
  steps: ['turns3', 'turns10', 'turns30', 'all'],
  usual: 'all',
  title: (t) => t('slider.memory'),
  low: (t) => t('slider.memory.low'),
  high: (t) => t('slider.memory.high'),
  meaning: (t, step, { active, language }) => {
    if (step !== 'all') return t(`slider.memory.${step}`);
    const pages = pagesOf(active?.context ?? 0);
    return pages >= 2 ? t('slider.memory.all', { pages: whole(pages, language) }) : t('slider.memory.allPlain');
  },
};

export const EFFORT: Slider<Effort> = {
  steps: ['low', 'medium', 'high'],
  usual: 'medium',
  title: (t) => t('slider.effort'),
  low: (t) => t('slider.effort.low'),
  high: (t) => t('slider.effort.high'),
  meaning: (t, step) => t(`effort.${step}Hint`),
};

export type SliderSettings = Pick<ChatSettings, 'answerLength' | 'creativity' | 'memory' | 'effort'>;
