// The hub's own interface: search, what a repository holds, and where its files are. What it says is checked before anybody believes it;
// nothing is kept. Only the parts of the answers that are used are named here.
import { z } from 'zod';
import { HearthError } from '../../contract/errors';
import type { Network, NetworkAnswer } from '../network';
import { readJson } from '../network';
import { checkRepo, leavesFolder } from './file-names';
import type { RepoFile } from './groups';

export interface HubClientOptions {
  network: Network;
  /** Address of the hub or its mirror, without a slash at the end. */
  hub(): string;
  /** The user's token for this hub. */
  token(hub: string): string | undefined;
}

export interface HubEntry {
  repo: string;
  licence?: string;
  architecture?: string;
  parameters?: number;
  downloads?: number;
  likes?: number;
  updatedAt?: number;
  gated: boolean;
  tags: string[];
}

export interface HubRepository extends HubEntry {
  /** What the files are asked for by, so that all are of one state. */
  commit: string;
  files: RepoFile[];
  /** Of weights in Hugging Face's layout. */
  original: string;
}

const count = z.number().nonnegative().optional().catch(undefined);
const entry = z.looseObject({
  id: z.string(),
  downloads: count,
  likes: count,
  lastModified: z.string().optional().catch(undefined),
  gated: z.union([z.boolean(), z.string()]).optional().catch(undefined),
  tags: z.array(z.string()).catch([]),
  gguf: z
    .looseObject({ total: count, architecture: z.string().optional().catch(undefined) })
    .optional()
    .catch(undefined),
  safetensors: z
    .looseObject({ total: count, parameters: z.record(z.string(), z.number()).optional().catch(undefined) })
    .optional()
    .catch(undefined),
});

const sibling = z.looseObject({
  rfilename: z.string(),
  size: z.int().nonnegative().optional(),
  blobId: z.string().optional(),
  lfs: z.looseObject({ sha256: z.string(), size: z.int().nonnegative() }).nullish(),
});
const repository = entry.extend({ sha: z.string().optional(), siblings: z.array(sibling) });

const tagged = (tags: readonly string[], prefix: string) =>
  tags.find((tag) => tag.startsWith(prefix))?.slice(prefix.length);

function hubEntry(raw: z.infer<typeof entry>): HubEntry {
  const updated = raw.lastModified === undefined ? NaN : Date.parse(raw.lastModified);
  const licence = tagged(raw.tags, 'license:');
  const architecture = raw.gguf?.architecture;
  const parameters = raw.gguf?.total ?? raw.safetensors?.total;
  return {
    repo: raw.id,
    gated: raw.gated !== undefined && raw.gated !== false,
    tags: raw.tags,
    ...(licence !== undefined && { licence }),
    ...(architecture !== undefined && { architecture }),
    ...(parameters !== undefined && { parameters }),
    ...(raw.downloads !== undefined && { downloads: raw.downloads }),
    ...(raw.likes !== undefined && { likes: raw.likes }),
    ...(Number.isFinite(updated) && { updatedAt: updated }),
  };
}

/** A hash is a hash: what else stands in its place says that the answer is not to be trusted. */
function hashOf(path: string, text: string, digits: number): string {
  const hash = text.replace(/^sha256:/, '').toLowerCase();
  if (hash.length === digits && /^[0-9a-f]+$/.test(hash)) return hash;
  throw new HearthError('hub_failed', `The hub's checksum of ${JSON.stringify(path.slice(0, 120))} is none.`);
}

function repoFile({ rfilename: path, size, blobId, lfs }: z.infer<typeof sibling>): RepoFile[] {
  if (lfs) return [{ path, bytes: lfs.size, sha256: hashOf(path, lfs.sha256, 64) }];
  if (size === undefined || blobId === undefined) return [];
  return [{ path, bytes: size, blob: hashOf(path, blobId, 40) }];
}

/** The type that most of the weights have; four-bit blocks are stored as bytes. */
function originalType(raw: z.infer<typeof entry>): string {
  if (raw.tags.includes('mxfp4')) return 'MXFP4';
  const types = Object.entries(raw.safetensors?.parameters ?? {}).sort((a, b) => b[1] - a[1]);
  return types[0]?.[0].toUpperCase() ?? '';
}

const encoded = (path: string) => path.split('/').map(encodeURIComponent).join('/');

export class HubClient {
  constructor(private readonly options: HubClientOptions) {}

  /** One page of models with GGUF files, the most used first. */
  async search(
    query: string,
    cursor?: string,
    signal?: AbortSignal,
  ): Promise<{ entries: HubEntry[]; cursor?: string }> {
    const url = new URL(`${this.options.hub()}/api/models`);
    const asked = { search: query, filter: 'gguf', sort: 'downloads', direction: '-1', limit: '20' };
    for (const [name, value] of Object.entries(asked)) url.searchParams.set(name, value);
    for (const field of ['downloads', 'likes', 'lastModified', 'gated', 'tags', 'gguf'])
      url.searchParams.append('expand[]', field);
    if (cursor !== undefined) url.searchParams.set('cursor', cursor);
    const answer = await this.ask(url.href, query, 15_000, signal);
    const list = this.understood(z.array(entry), await readJson(answer));
    const next = nextCursor(answer);
    const safe = list.filter(({ id }) => /^[\w.-]+\/[\w.-]+$/.test(id) && !leavesFolder(id));
    return { entries: safe.map(hubEntry), ...(next !== undefined && { cursor: next }) };
  }

  /** Throws HearthError{not_found | hub_denied | unsafe_name | …} before anything is written. */
  async repository(repo: string, revision = 'main', signal?: AbortSignal): Promise<HubRepository> {
    checkRepo(repo);
    const path = revision === 'main' ? '' : `/revision/${encodeURIComponent(revision)}`;
    const url = `${this.options.hub()}/api/models/${encoded(repo)}${path}?blobs=true`;
    const raw = this.understood(repository, await readJson(await this.ask(url, repo, 30_000, signal)));
    const hostile = raw.siblings.find(({ rfilename }) => leavesFolder(rfilename));
    if (hostile) {
      const name = JSON.stringify(hostile.rfilename.slice(0, 120));
      throw new HearthError('unsafe_name', `${repo} lists a file that leads out of its folder: ${name}.`);
    }
    return {
      ...hubEntry(raw),
      repo,
      commit: raw.sha !== undefined && /^[0-9a-f]{40}$/.test(raw.sha) ? raw.sha : revision,
      files: raw.siblings.flatMap(repoFile),
      original: originalType(raw),
    };
  }

  fileUrl(repo: string, commit: string, path: string): string {
    return `${this.options.hub()}/${encoded(repo)}/resolve/${encodeURIComponent(commit)}/${encoded(path)}`;
  }

  /** For this hub's own addresses alone. */
  bearer(): string | undefined {
    return this.options.token(this.options.hub());
  }

  private async ask(url: string, detail: string, headMs: number, signal?: AbortSignal): Promise<NetworkAnswer> {
    const { network } = this.options;
    const bearer = this.bearer();
    const answer = await network.open({
      url,
      purpose: 'search',
      detail,
      headMs,
      ...(bearer !== undefined && { bearer }),
      ...(signal && { signal }),
    });
    if (answer.status === 200) return answer;
    answer.body.destroy();
    throw refusal(answer, detail);
  }

  private understood<T>(schema: z.ZodType<T>, value: unknown): T {
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    throw new HearthError('hub_failed', `${this.options.hub()} answers in a form that Hearth does not know.`);
  }
}

/** What an answer other than success means. */
export function refusal({ status, url }: Pick<NetworkAnswer, 'status' | 'url'>, what: string): HearthError {
  if (status === 401 || status === 403) return new HearthError('hub_denied', `${url.host} does not hand out ${what}.`);
  if (status === 404) return new HearthError('not_found', `${url.host} has no ${what}.`);
  if (status === 429) return new HearthError('hub_failed', `${url.host} asks to wait: too many requests.`);
  return new HearthError('hub_failed', `${url.host} answered with status ${status}.`);
}

/** Of the link to the next page only this much is taken: the address stays ours. */
function nextCursor({ headers, url }: NetworkAnswer): string | undefined {
  const link = [headers.link].flat().join(',');
  const next = /<([^>]+)>;\s*rel="next"/.exec(link)?.[1];
  if (next === undefined) return undefined;
  try {
    return new URL(next, url).searchParams.get('cursor') ?? undefined;
  } catch {
    return undefined;
  }
}
