// Ollama's store: manifests/HOST/NAMESPACE/NAME/TAG, each a small JSON that names blobs by their SHA-256. A manifest is what anybody may
// have written: it is bounded, and a digest that is no digest names no file. Nothing is ever written there.
import { constants } from 'node:fs';
import { open, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { z } from 'zod';
import type { Found } from './scan';
import { fileAt, isWithin, listings, note, type Walk } from './walk';

const MAX_MANIFEST_BYTES = 256 * 1024;
const MODEL = 'application/vnd.ollama.image.model';

const manifest = z.object({
  layers: z.array(z.object({ mediaType: z.string(), digest: z.string(), size: z.number() })).max(1000),
});

const isFolder = (path: string) =>
  stat(path).then(
    (info) => info.isDirectory(),
    () => false,
  );

/** The folder with `manifests` and `blobs`: `path` itself or its `models`. */
export async function ollamaRoot(path: string): Promise<string | undefined> {
  for (const folder of [path, join(path, 'models')])
    if ((await isFolder(join(folder, 'manifests'))) && (await isFolder(join(folder, 'blobs')))) return folder;
  return undefined;
}

/** `name:tag`, or the name alone for `latest`, which is what Ollama means by it. */
export function ollamaTitle(path: string): string {
  const [name, tag] = [basename(dirname(path)), basename(path)];
  return tag === 'latest' ? name : `${name}:${tag}`;
}

/** The digest of the weights in hex; undefined where the manifest has none that can be read. */
export function weightsOf(text: string): string | undefined {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    return undefined;
  }
  const parsed = manifest.safeParse(json);
  if (!parsed.success) return undefined;
  const weights = parsed.data.layers.filter(({ mediaType }) => mediaType === MODEL);
  // Several are a model in parts whose order nobody has written down.
  const digest = weights.length === 1 ? weights[0]?.digest : undefined;
  return /^sha256:([0-9a-f]{64})$/.exec(digest ?? '')?.[1];
}

/** Of a regular file only, and without waiting for anybody to write into it. */
async function smallText(path: string): Promise<string | undefined> {
  const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0)).catch(() => undefined);
  if (!file) return undefined;
  try {
    const info = await file.stat();
    if (!info.isFile() || info.size > MAX_MANIFEST_BYTES) return undefined;
    return (await file.readFile()).toString('utf8');
  } catch {
    return undefined;
  } finally {
    await file.close();
  }
}

/** One model per blob; further names of it are further titles. */
export async function ollamaModels(walk: Walk): Promise<Found[]> {
  const models = new Map<string, Found>();
  const blobs = join(walk.root, 'blobs');
  for await (const { files } of listings(walk, join(walk.root, 'manifests'))) {
    for (const { name, path } of files) {
      if (name.startsWith('.')) continue;
      const digest = weightsOf((await smallText(path)) ?? '');
      const known = digest === undefined ? undefined : models.get(digest);
      const file =
        known?.files[0] ?? (digest === undefined ? undefined : await fileAt(join(blobs, `sha256-${digest}`)));
      const outside = file !== undefined && !isWithin(file.real, walk.limit);
      if (digest === undefined || !file || outside) {
        note(walk, outside ? 'link_outside' : 'bad_manifest', path);
        continue;
      }
      if (known) known.titles?.push(ollamaTitle(path));
      else {
        const files = [{ ...file, expected: digest }];
        models.set(digest, { path: file.path, isFolder: false, files, missing: [], titles: [ollamaTitle(path)] });
      }
    }
  }
  walk.folders.push(blobs);
  return [...models.values()];
}
