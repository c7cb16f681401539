// What is said about models, as data and sentences: where one runs, what its load is doing, its numbers. Pure.
import type { ActiveModel, AppState, ModelEntry } from '@contract/own';
import type { Language, Translate } from '../i18n';
import { bytes, count, pagesOf, percent } from '../parts/format';
import { packingWords } from './packing';

export function whereWords(t: Translate, state: AppState): string {
  return t(state.active?.gpu === undefined ? 'model.cpu' : 'model.gpu');
}

export function phaseWords(t: Translate, active: ActiveModel, language: Language): string {
  switch (active.phase) {
    case 'weights':
      return t('phase.weights', { percent: percent(active.fraction ?? 0, language) });
    case 'open':
      return t('phase.open');
    case 'tokenizer':
      return t('phase.tokenizer');
    case 'warmup':
      return t('phase.warmup');
    default:
      return t('phase.start');
  }
}

/** It ran already: what it runs on is known of a model only once it has loaded. */
export const isRestarting = ({ state, kernels }: ActiveModel): boolean => state === 'loading' && kernels !== undefined;

/** How far a load has come in all, 0..1: reading the weights is nearly all of it. */
export function loadShare({ phase, fraction = 0 }: ActiveModel): number {
  if (phase === 'weights') return 0.05 + 0.85 * fraction;
  if (phase === 'tokenizer') return 0.92;
  if (phase === 'warmup') return 0.96;
  return 0.02;
}

export function sizeWords(model: ModelEntry, language: Language): string {
  return bytes(model.fileBytes, language);
}

/** Facts in plain words, most useful first. */
export function factsOf(t: Translate, model: ModelEntry, language: Language): string[] {
  const { info, abilities } = model;
  const facts: string[] = [];
  if (!info) return facts;
  facts.push(info.architecture);
  if (info.parameters > 0) facts.push(t('models.parameters', { count: count(info.parameters, language) }));
  const packing = packingWords(t, info.quantization);
  if (packing) facts.push(packing);
  const pages = pagesOf(info.context);
  if (pages > 0) facts.push(t('models.context', { count: pages }));
  if (abilities && !abilities.chat) facts.push(t('models.noChat'));
  if (abilities?.reasoning) facts.push(t('models.thinks'));
  if (abilities?.tools) facts.push(t('models.tools'));
  if (info.license) facts.push(t('models.license', { license: info.license }));
  return facts;
}

/** Broken files are those that were never readable, or are not what their makers published; a failed load can be tried again. */
export const isBroken = ({ error, info, verification }: ModelEntry): boolean =>
  error !== undefined && (!info || verification?.state === 'differs');
