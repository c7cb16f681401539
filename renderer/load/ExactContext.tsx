// For who wants exact numbers: the length of the conversation that is held in mind, in tokens.
import type { LoadChoice } from '@contract/models';
import { currentLanguage, useT } from '../i18n';
import { Field } from '../parts/Field';
import { whole } from '../parts/format';

interface Props {
  choice: LoadChoice;
  choices: readonly LoadChoice[];
  onChange: (context: number | undefined) => void;
}

const LEAST = 512;
const STEP = 512;

export function ExactContext({ choice, choices, onChange }: Props) {
  const t = useT();
  const language = currentLanguage();
  const most = Math.max(...choices.map(({ context }) => context));
  const change = (value: string): void => {
    const context = Number(value);
    onChange(Number.isInteger(context) && context >= LEAST ? context : undefined);
  };
  return (
    <details className="load-exact">
      <summary>{t('load.exact')}</summary>
      <div className="load-exact-fields">
        <Field label={t('load.context')} hint={t('load.contextText', { most: whole(most, language) })}>
          {(hint) => (
            <input
              className="field num"
              aria-describedby={hint}
              type="number"
              min={LEAST}
              step={STEP}
              // Another choice is another field: its own number stands in it.
              key={choice.id}
              defaultValue={choice.context}
              onChange={(event) => change(event.target.value)}
            />
          )}
        </Field>
        <p className="load-kv">{t(`load.kv.${choice.kvType}`)}</p>
      </div>
    </details>
  );
}
