// The models of engines elsewhere beside those on disk, as one library. It knows of engines only what it is told: names and references.
// A model on this machine is never hidden by one elsewhere.
import type { Abilities } from '../contract/runtime';
import { notFound } from './items';
import { normalName } from './names';
import type { Library, LibraryModel } from './types';

export interface ElsewhereModel {
  name: string;
  path: string;
  engine: string;
  engineId: string;
  abilities?: Abilities;
}

export interface Elsewhere {
  models(): ElsewhereModel[];
  watch(listener: () => void): () => void;
  /** Rises when the models changed. */
  version(): number;
}

export function withRemoteModels(local: Library, elsewhere: Elsewhere): Library {
  const remote = () => elsewhere.models().map(toLibraryModel);
  const both: Pick<Library, 'list' | 'find' | 'watch' | 'version'> = {
    list: () => [...local.list(), ...remote()],
    find: (name) => {
      try {
        return local.find(name);
      } catch (error) {
        const models = remote();
        const found = models.find((model) => model.name === normalName(name));
        if (found) return found;
        if (models.length === 0) throw error;
        const usable = [...local.list().filter((model) => !model.error), ...models];
        throw notFound(
          name,
          usable.map((model) => model.name),
        );
      }
    },
    version: () => local.version() + elsewhere.version(),
    watch: (listener) => {
      const stops = [local.watch(listener), elsewhere.watch(listener)];
      return () => stops.forEach((stop) => stop());
    },
  };
  // Everything else is about files, and the local library's own.
  return new Proxy(local, {
    get: (target, key) => {
      if (Object.hasOwn(both, key)) return both[key as keyof typeof both];
      const value: unknown = Reflect.get(target, key);
      return typeof value === 'function' ? (value.bind(target) as unknown) : value;
    },
  });
}

function toLibraryModel({ name, path, engine, engineId, abilities }: ElsewhereModel): LibraryModel {
  return {
    name,
    path,
    fileBytes: 0,
    builtin: false,
    remote: engineId,
    engine,
    ...(abilities && { abilities }),
  };
}
