// What in a repository is one model: the parts of a split file together, a folder in Hugging Face's layout as one. What is no model by
// itself (projectors, importance matrices, training states) is left out. Pure functions.
import { HearthError } from '../../contract/errors';
import type { HubFile } from '../../contract/models';
import { shardOf } from '../names';
import { bitsOf, qualityOf, quantizationOf } from './quality';

export interface RepoFile {
  path: string;
  bytes: number;
  /** Of the content; absent for small files, which have `blob` instead. */
  sha256?: string;
  /** Git's own: SHA-1 of "blob LENGTH\0" and the content. */
  blob?: string;
}

export interface FileGroup {
  /** By which it is asked for: the first part, or the index of a folder's weights. */
  path: string;
  files: RepoFile[];
  quantization: string;
}

const baseName = (path: string) => path.slice(path.lastIndexOf('/') + 1);
const folderOf = (path: string) => path.slice(0, Math.max(0, path.lastIndexOf('/')));

const isModel = (path: string) => /\.gguf$/i.test(path) && !/^mmproj|mmproj\.gguf$|imatrix/i.test(baseName(path));

function ggufGroups(files: readonly RepoFile[]): FileGroup[] {
  const sets = new Map<string, RepoFile[]>();
  for (const file of files.filter(({ path }) => isModel(path))) {
    const shard = shardOf(baseName(file.path));
    const key = shard ? `${folderOf(file.path)}/${shard.base} of ${shard.total}` : file.path;
    sets.set(key, [...(sets.get(key) ?? []), file]);
  }
  return [...sets.values()].flatMap((parts) => {
    parts.sort((a, b) => (a.path < b.path ? -1 : 1));
    const path = parts[0]?.path ?? '';
    const total = shardOf(baseName(path))?.total;
    // A set with a hole cannot be loaded: it is not offered.
    if (total !== undefined && total !== parts.length) return [];
    const quantization = quantizationOf(baseName(path)) ?? quantizationOf(folderOf(path).replaceAll('/', '-'));
    return [{ path, files: parts, quantization: quantization ?? '' }];
  });
}

/** What a model's parts are counted by: beside a folder's weights lie its tokenizer and its settings. */
const WEIGHTS = /\.(gguf|safetensors)$/i;

/** Small files that belong to a model in Hugging Face's layout. */
const BESIDE =
  /^(config|generation_config|tokenizer|tokenizer_config|special_tokens_map|added_tokens|vocab)\.json$|^(merges\.txt|tokenizer\.model|chat_template\.jinja|LICENSE(\.txt|\.md)?)$/;

export const isBeside = (name: string): boolean => BESIDE.test(name);

/** Weights in the repository's own folder; other folders hold the same weights for other programs. */
function folderGroup(files: readonly RepoFile[], quantization: string): FileGroup[] {
  const top = files.filter(({ path }) => !path.includes('/'));
  const weights = top.filter(({ path }) => path.endsWith('.safetensors'));
  const index = top.find(({ path }) => path === 'model.safetensors.index.json');
  const first = weights[0];
  if (!first || !top.some(({ path }) => path === 'config.json')) return [];
  if (weights.length > 1 && !index) return [];
  const beside = top.filter(({ path }) => isBeside(path));
  return [{ path: (index ?? first).path, files: [...weights, ...(index ? [index] : []), ...beside], quantization }];
}

/** `original`: what is told of the weights of a folder in Hugging Face's layout. */
export function fileGroups(files: readonly RepoFile[], original: string): FileGroup[] {
  return [...ggufGroups(files), ...folderGroup(files, original)];
}

/** The group that a file belongs to. Throws HearthError{not_found}. */
export function groupOf(groups: readonly FileGroup[], path: string, repo: string): FileGroup {
  const group = groups.find(({ files }) => files.some((file) => file.path === path));
  if (group) return group;
  throw new HearthError('not_found', `${repo} has no model file called ${JSON.stringify(path.slice(0, 120))}.`);
}

export const bytesOf = ({ files }: FileGroup): number => files.reduce((sum, { bytes }) => sum + bytes, 0);

/** As the page shows it, the smallest first. */
export function hubFiles(groups: readonly FileGroup[], trainedInFourBits: boolean): HubFile[] {
  return groups
    .map((group) => ({
      path: group.path,
      bytes: bytesOf(group),
      parts: group.files.filter(({ path }) => WEIGHTS.test(path)).length,
      quantization: group.quantization,
      quality: qualityOf(group.quantization, trainedInFourBits),
    }))
    .sort((a, b) => a.bytes - b.bytes);
}

/** Tokens a second: about four words, as fast as one reads with care. */
const READABLE_TPS = 5;
/** "Best" costs twice the memory of "very good" and can hardly be told from it. */
const MERIT: Record<HubFile['quality'], number> = { very_good: 3, best: 2, good: 1, small: 0 };
const CHANCE = { fits: 2, tight: 1 } as const;

const isReadable = ({ fit }: HubFile): boolean => (fit?.decodeTps ?? READABLE_TPS) >= READABLE_TPS;

/** Better for this machine first: what fits, what writes as fast as one reads, then quality, or where none does, speed. */
function byMerit(a: HubFile, b: HubFile): number {
  const chance = ({ fit }: HubFile) => CHANCE[fit?.verdict as keyof typeof CHANCE] ?? 0;
  const sooner = chance(b) - chance(a) || Number(isReadable(b)) - Number(isReadable(a));
  if (sooner !== 0) return sooner;
  if (isReadable(a)) return MERIT[b.quality] - MERIT[a.quality] || a.bytes - b.bytes;
  return Math.min(1, MERIT[b.quality]) - Math.min(1, MERIT[a.quality]) || a.bytes - b.bytes;
}

/** For somebody who names a repository alone: what suits this machine, else about four bits, else the smallest. */
export function recommended(files: readonly HubFile[]): HubFile | undefined {
  const possible = files.filter(({ fit }) => fit?.verdict === 'fits' || fit?.verdict === 'tight');
  const usual = files.filter(({ quantization }) => bitsOf(quantization) === 4);
  return (
    [...possible].sort(byMerit)[0] ??
    usual.find(({ quantization }) => /^(Q4_K_M|MXFP4)/.test(quantization)) ??
    usual[0] ??
    files[0]
  );
}
