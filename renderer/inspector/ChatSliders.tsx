// The four plain sliders together: for one chat, or for new ones in the settings.
import { useApp } from '../state/app';
import { CREATIVITY, EFFORT, LENGTH, MEMORY, type SliderSettings } from './sliders';
import { WordSlider } from './WordSlider';

interface Props {
  value: SliderSettings;
  onChange: (patch: Partial<SliderSettings>) => void;
}

export function ChatSliders({ value, onChange }: Props) {
  const thinks = useApp((app) => app.state?.active?.abilities?.reasoning !== false);
  return (
    <div className="sliders">
      <WordSlider slider={LENGTH} value={value.answerLength} onChange={(answerLength) => onChange({ answerLength })} />
      <WordSlider slider={CREATIVITY} value={value.creativity} onChange={(creativity) => onChange({ creativity })} />
      <WordSlider slider={MEMORY} value={value.memory} onChange={(memory) => onChange({ memory })} />
      {thinks && <WordSlider slider={EFFORT} value={value.effort} onChange={(effort) => onChange({ effort })} />}
    </div>
  );
}
