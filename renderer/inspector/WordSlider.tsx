// A slider in words: a word at each end, its meaning in a sentence below that changes with the thumb, a tick at the usual setting.
import { RotateCcw } from 'lucide-react';
import { Slider as Bar } from 'radix-ui';
import { useId, useState, type CSSProperties } from 'react';
import { currentLanguage, useT } from '../i18n';
import { useApp } from '../state/app';
import type { Slider } from './sliders';
import './slider.css';

interface Props<T extends string> {
  slider: Slider<T>;
  value: T;
  onChange: (value: T) => void;
}

export function WordSlider<T extends string>({ slider, value, onChange }: Props<T>) {
  const t = useT();
  const id = useId();
  const active = useApp((app) => app.state?.active);
  // While the thumb is held, the sentence follows it; the choice is made when it is let go.
  const [held, setHeld] = useState<T | undefined>();
  const shown = held ?? value;
  const last = slider.steps.length - 1;
  const index = Math.max(0, slider.steps.indexOf(shown));
  const meaning = slider.meaning(t, shown, { active, language: currentLanguage() });
  const choose = (position: number | undefined): void => {
    const step = position === undefined ? undefined : slider.steps[position];
    setHeld(undefined);
    if (step !== undefined && step !== value) onChange(step);
  };
  return (
    <div className="slider" style={{ '--lamp': index / last } as CSSProperties}>
      <div className="slider-title">
        <span id={id}>{slider.title(t)}</span>
        {shown !== slider.usual && (
          <button
            type="button"
            className="icon-button slider-reset"
            aria-label={t('common.reset')}
            title={t('common.reset')}
            onClick={() => onChange(slider.usual)}
          >
            <RotateCcw size={13} aria-hidden />
          </button>
        )}
      </div>
      <Bar.Root
        className="slider-bar"
        min={0}
        max={last}
        step={1}
        value={[index]}
        onValueChange={([position]) => setHeld(position === undefined ? undefined : slider.steps[position])}
        onValueCommit={([position]) => choose(position)}
      >
        <Bar.Track className="slider-track">
          <Bar.Range className="slider-range" />
        </Bar.Track>
        <span className="slider-steps" aria-hidden>
          {slider.steps.map((step) => (
            <span key={step} className="slider-step" data-usual={step === slider.usual} />
          ))}
        </span>
        <Bar.Thumb className="slider-thumb" aria-labelledby={id} aria-valuetext={meaning} />
      </Bar.Root>
      <div className="slider-ends" aria-hidden>
        <span>{slider.low(t)}</span>
        <span>{slider.high(t)}</span>
      </div>
      <p className="slider-meaning">{meaning}</p>
    </div>
  );
}
