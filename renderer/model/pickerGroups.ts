// The models of the picker in groups: in use, on this computer, on other computers, and those that cannot be used. Pure.
import type { ModelEntry } from '@contract/own';
import { isBroken } from './modelWords';

export interface PickerGroup {
  title: `model.${'inUse' | 'onDisk' | 'remote' | 'broken'}`;
  models: ModelEntry[];
}

export function groupModels(models: readonly ModelEntry[], filter: string): PickerGroup[] {
  const words = filter.toLowerCase().split(/\s+/).filter(Boolean);
  const matches = (model: ModelEntry): boolean => {
    const names = [
      model.name,
      ...(model.aliases ?? []),
      model.remote,
      model.info?.architecture,
      model.info?.quantization,
    ];
    const text = names.join(' ').toLowerCase();
    return words.every((word) => text.includes(word));
  };
  const shown = models.filter(matches);
  const groups: PickerGroup[] = [
    { title: 'model.inUse', models: shown.filter((model) => kindOf(model) === 'inUse') },
    { title: 'model.onDisk', models: shown.filter((model) => kindOf(model) === 'onDisk') },
    { title: 'model.remote', models: shown.filter((model) => kindOf(model) === 'remote') },
    { title: 'model.broken', models: shown.filter((model) => kindOf(model) === 'broken') },
  ];
  return groups.filter((group) => group.models.length > 0);
}

function kindOf(model: ModelEntry): 'inUse' | 'onDisk' | 'remote' | 'broken' {
  if (model.remote !== undefined) return 'remote';
  if (model.state === 'ready' || model.state === 'loading') return 'inUse';
  return isBroken(model) ? 'broken' : 'onDisk';
}
