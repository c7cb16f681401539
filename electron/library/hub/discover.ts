// What a search shows: the catalogue's models first, then the hub's, each repository once; without the hub the catalogue alone, and why.
import { basename, join } from 'node:path';
import { HearthError } from '../../contract/errors';
import type { DiscoverResult, Fit, HubFile, HubModel } from '../../contract/models';
import type { LibraryModel } from '../types';
import { featured, searchCatalogue, shapeOf, type CatalogueEntry, type CatalogueShape } from './catalogue';
import type { HubClient, HubEntry } from './client';
import { fileGroups, hubFiles, recommended } from './groups';

/** What is known of a file that is not here yet. */
export interface FitQuestion {
  bytes: number;
  quantization: string;
  architecture?: string;
  parameters?: number;
  shape?: CatalogueShape;
}

export interface DiscoverOptions {
  client: Pick<HubClient, 'search' | 'repository'>;
  catalogue: readonly CatalogueEntry[];
  models(): readonly LibraryModel[];
  /** Where downloads go. */
  folder(): string;
  /** Absent: nothing is said of whether a model fits. */
  fitOf?(question: FitQuestion): Promise<Fit | undefined>;
}

export interface Discover {
  search(query: string, cursor?: string): Promise<DiscoverResult>;
  /** Throws what the hub's client throws. */
  repository(repo: string): Promise<HubModel>;
}

function hubModel({ tags: _tags, repo, ...known }: HubEntry): HubModel {
  return { ...known, repo, title: repo.slice(repo.indexOf('/') + 1).replace(/[-_]gguf$/i, ''), featured: false };
}

/** Failures that leave the catalogue to be shown; others are told. */
function offlineReason(error: HearthError): DiscoverResult['offline'] {
  if (error.code === 'offline') return 'setting';
  return error.code === 'unreachable' || error.code === 'hub_failed' ? 'unreachable' : undefined;
}

const trainedInFourBits = (repo: string, architecture: string | undefined, tags: readonly string[]) =>
  architecture === 'gpt-oss' || tags.includes('gpt_oss') || /gpt-oss/i.test(repo);

export function createDiscover({ client, catalogue, models, folder, fitOf }: DiscoverOptions): Discover {
  /** The copy that is here: where a download would put it, or a file of the same name and size. */
  const local = (repo: string, file: HubFile): string | undefined => {
    const place = join(folder(), repo, file.path);
    const same = models().find(
      ({ path, fileBytes }) => path === place || (basename(path) === basename(file.path) && fileBytes === file.bytes),
    );
    return same?.name;
  };
  const withPlace = async (model: HubModel, file: HubFile): Promise<HubFile> => {
    const { architecture, parameters } = model;
    const shape = shapeOf(catalogue, model);
    const fit = await fitOf?.({
      bytes: file.bytes,
      quantization: file.quantization,
      ...(architecture !== undefined && { architecture }),
      ...(parameters !== undefined && { parameters }),
      ...(shape && { shape }),
    }).catch(() => undefined);
    const here = local(model.repo, file);
    return { ...file, ...(fit && { fit }), ...(here !== undefined && { local: here }) };
  };

  return {
    search: async (query, cursor) => {
      // Further pages are the hub's alone.
      const ours = cursor === undefined ? searchCatalogue(catalogue, query) : [];
      try {
        const found = await client.search(query, cursor);
        const theirs = new Map(found.entries.map((entry) => [entry.repo, entry]));
        const shown = new Set(catalogue.map(({ repo }) => repo));
        const first = ours.map((model) => {
          const entry = theirs.get(model.repo);
          return entry ? { ...hubModel(entry), ...model, gated: entry.gated } : model;
        });
        const rest = found.entries.filter(({ repo }) => !shown.has(repo)).map(hubModel);
        return { models: [...first, ...rest], ...(found.cursor !== undefined && { cursor: found.cursor }) };
      } catch (error) {
        const offline = offlineReason(HearthError.from(error));
        if (offline === undefined) throw error;
        return { models: ours, offline };
      }
    },
    repository: async (repo) => {
      const { commit: _commit, files, original, ...entry } = await client.repository(repo);
      const known = catalogue.find((one) => one.repo === repo);
      const model = { ...hubModel(entry), ...(known && featured(known)), gated: entry.gated };
      const fourBits = trainedInFourBits(repo, model.architecture, entry.tags);
      const groups = fileGroups(files, original || (fourBits ? 'MXFP4' : ''));
      const described = await Promise.all(hubFiles(groups, fourBits).map((file) => withPlace(model, file)));
      const suggested = recommended(described)?.path;
      return { ...model, files: described, ...(suggested !== undefined && { suggested }) };
    },
  };
}
