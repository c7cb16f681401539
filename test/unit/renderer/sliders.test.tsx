// A slider says in words what it will do, moves by keys, and never stands for a number that the server does not know.
import { answerLength, chatSettings, creativity, memory } from '@contract/own';
import { effort } from '@contract/chat';
import { render, screen } from '@testing-library/react';
import userEvent from '@testing-library/user-event';
import { describe, expect, it, vi } from 'vitest';
import { t } from '../../../renderer/i18n';
import { CREATIVITY, EFFORT, LENGTH, MEMORY, type Slider } from '../../../renderer/inspector/sliders';
import { WordSlider } from '../../../renderer/inspector/WordSlider';
import { DEFAULT_SETTINGS } from '../../../renderer/state/newChat';

const context = { active: undefined, language: 'en' as const };

describe('sliders', () => {
  it('offer every setting of the contract, in order from little to much', () => {
    expect(LENGTH.steps).toEqual(answerLength.options);
    expect(CREATIVITY.steps).toEqual(creativity.options);
    expect(MEMORY.steps).toEqual(memory.options);
    expect(EFFORT.steps).toEqual(effort.options);
  });

  it('usually stand where the contract has them, also before the settings have come', () => {
    const defaults = chatSettings.parse({});
    expect(DEFAULT_SETTINGS).toEqual(defaults);
    expect(LENGTH.usual).toBe(defaults.answerLength);
    expect(CREATIVITY.usual).toBe(defaults.creativity);
    expect(MEMORY.usual).toBe(defaults.memory);
    expect(EFFORT.usual).toBe(defaults.effort);
  });

  it.each([
    ['length', LENGTH],
    ['creativity', CREATIVITY],
    ['memory', MEMORY],
    ['effort', EFFORT],
  ] as [string, Slider<string>][])('%s means something else at every step', (_, slider) => {
    const sentences = slider.steps.map((step) => slider.meaning(t, step, context));
    expect(new Set(sentences).size).toBe(slider.steps.length);
    for (const sentence of sentences) expect(sentence).toMatch(/\.$/);
  });

  it('tells how much the loaded model holds', () => {
    const active = { name: 'm', state: 'ready' as const, context: 131_072, defaultTemperature: 1 };
    expect(MEMORY.meaning(t, 'all', { active, language: 'en' })).toContain('201 pages');
    expect(CREATIVITY.meaning(t, 'balanced', { active, language: 'en' })).toContain('1.0');
  });
});

describe('WordSlider', () => {
  it('moves by the keyboard and speaks its meaning', async () => {
    const onChange = vi.fn();
    render(<WordSlider slider={LENGTH} value="medium" onChange={onChange} />);
    const thumb = screen.getByRole('slider', { name: 'Answer length' });
    expect(thumb).toHaveAttribute('aria-valuetext', 'About a page, at most 512 tokens.');
    thumb.focus();
    await userEvent.keyboard('{ArrowRight}');
    expect(onChange).toHaveBeenLastCalledWith('long');
    await userEvent.keyboard('{Home}');
    expect(onChange).toHaveBeenLastCalledWith('short');
  });

  it('goes back to the usual setting', async () => {
    const onChange = vi.fn();
    render(<WordSlider slider={CREATIVITY} value="imaginative" onChange={onChange} />);
    await userEvent.click(screen.getByRole('button'));
    expect(onChange).toHaveBeenCalledWith('balanced');
  });
});
