// The list of models under the pill: type to filter, arrows to walk, Enter to use. Those that cannot be used say why.
import type { ModelEntry } from '@contract/own';
import clsx from 'clsx';
import { Check, CircleAlert, Globe, LoaderCircle, RefreshCw } from 'lucide-react';
import { useId, useState, type KeyboardEvent } from 'react';
import { currentLanguage, useT } from '../i18n';
import { en } from '../i18n/en';
import { openLoad } from '../load/loadDialog';
import { wordsPerSecond } from '../parts/format';
import { attempt } from '../state/actions';
import { useApp } from '../state/app';
import { loadModel, lookForModels } from '../state/modelActions';
import { goTo, pageHref } from '../state/page';
import { useModels } from '../state/queries';
import { FitPill } from './FitPill';
import { ModelNow } from './ModelNow';
import { FallbackNote } from './FallbackNote';
import { KernelNote } from './KernelNote';
import { RegressionNote } from './RegressionNote';
import { SpillNote } from './SpillNote';
import { Suggested } from './Suggested';
import { isBroken, phaseWords, sizeWords } from './modelWords';
import { groupModels } from './pickerGroups';

export function ModelPicker({ onDone }: { onDone: () => void }) {
  const t = useT();
  const id = useId();
  const { data: models = [] } = useModels();
  const activeName = useApp((app) => app.state?.active?.name);
  const [filter, setFilter] = useState('');
  const [at, setAt] = useState(0);
  const groups = groupModels(models, filter);
  const usable = groups.flatMap((group) => group.models).filter((model) => !isBroken(model));
  const current = usable[Math.min(at, usable.length - 1)];
  const choose = (model: ModelEntry | undefined): void => {
    if (!model) return;
    onDone();
    // Its page says why, and what can be done.
    if (isBroken(model)) return goTo('models');
    if (model.state === 'ready' && model.name === activeName) return;
    // What does not fit is not loaded by one press: the dialog says what would happen.
    if (model.fit?.verdict === 'too_big') openLoad(model.name);
    else attempt(loadModel(model.name));
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === 'ArrowDown') setAt(Math.min(at + 1, usable.length - 1));
    else if (event.key === 'ArrowUp') setAt(Math.max(at - 1, 0));
    else if (event.key === 'Enter') choose(current);
    else return;
    event.preventDefault();
  };
  const optionId = (model: ModelEntry): string => `${id}-${models.indexOf(model)}`;
  return (
    <>
      <div className="picker-top">
        <input
          className="field"
          value={filter}
          role="combobox"
          aria-expanded
          aria-controls={id}
          aria-activedescendant={current && optionId(current)}
          aria-label={t('model.filter')}
          placeholder={t('model.filter')}
          onChange={(event) => (setFilter(event.target.value), setAt(0))}
          onKeyDown={onKeyDown}
        />
        <button
          type="button"
          className="icon-button"
          aria-label={t('model.refresh')}
          title={t('model.refresh')}
          onClick={() => attempt(lookForModels())}
        >
          <RefreshCw size={16} aria-hidden />
        </button>
      </div>
      <div className="picker-now">
        <ModelNow onAct={onDone} />
        <FallbackNote onAct={onDone} />
        <SpillNote onAct={onDone} />
        <KernelNote />
        <RegressionNote onAct={onDone} />
      </div>
      {usable.length === 0 && groups.length === 0 && (
        <p className="picker-none">{models.length === 0 ? t('model.empty') : t('model.noMatch')}</p>
      )}
      <div className="picker-list" id={id} role="listbox" aria-label={t('model.picker')}>
        {groups.map((group) => (
          <div key={group.title} role="group" aria-label={t(group.title)}>
            <div className="picker-title" aria-hidden>
              {t(group.title)}
            </div>
            {group.models.map((model) => (
              <Option
                key={model.path}
                id={optionId(model)}
                model={model}
                on={model === current}
                onPress={() => choose(model)}
              />
            ))}
          </div>
        ))}
      </div>
      <Suggested filter={filter} onDone={onDone} />
      <a className="picker-all" href={pageHref('models')} onClick={onDone}>
        {t('model.all')}
      </a>
    </>
  );
}

interface OptionProps {
  id: string;
  model: ModelEntry;
  on: boolean;
  onPress: () => void;
}

function Option({ id, model, on, onPress }: OptionProps) {
  const t = useT();
  const language = currentLanguage();
  const active = useApp((app) => app.state?.active);
  const broken = isBroken(model);
  const loading = model.state === 'loading' && active?.name === model.name;
  const error = model.error && `error.${model.error.code}` in en ? model.error.code : 'internal';
  const { decodeTps = 0, remote, fit } = model;
  const details = [
    remote === undefined ? sizeWords(model, language) : t('model.remoteOn', { engine: remote }),
    model.info?.quantization,
    decodeTps > 0 ? t('fit.paceMeasured', { words: wordsPerSecond(decodeTps, language) }) : undefined,
    model.builtin ? t('model.builtin') : undefined,
  ];
  return (
    <div
      id={id}
      role="option"
      aria-selected={model.state === 'ready' && active?.name === model.name}
      aria-disabled={broken || undefined}
      className={clsx('picker-option', on && 'is-on', broken && 'is-broken')}
      ref={(element) => (on ? element?.scrollIntoView?.({ block: 'nearest' }) : undefined)}
      onClick={onPress}
    >
      <span className="picker-sign" aria-hidden>
        {model.state === 'ready' && <Check size={16} />}
        {loading && <LoaderCircle className="spin" size={15} />}
        {model.error && !loading && <CircleAlert size={15} />}
        {remote !== undefined && !model.error && model.state !== 'ready' && <Globe size={14} />}
      </span>
      <span className="picker-words">
        <bdi className="picker-name">{model.name}</bdi>
        <span className="picker-details num">
          {fit && model.state === 'available' && <FitPill fit={fit} short />}
          {details.filter(Boolean).map((detail) => (
            <span key={detail}>{detail}</span>
          ))}
          {loading && active && <span>{phaseWords(t, active, language)}</span>}
        </span>
        {model.error && !loading && (
          <span className="picker-error">
            {t(`error.${error}`)} {t(`remedy.${error}`)}
          </span>
        )}
      </span>
    </div>
  );
}
