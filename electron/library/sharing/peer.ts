// Another Hearth that shares its models: what it offers, and where the bytes of a file are. It asks through the one door; what it is told is
// checked as what a hub tells is, and its key goes to its own address alone.
import { HearthError } from '../../contract/errors';
import { SHARED } from '../../contract/routes';
import { sharedModels, type SharedModel } from '../../contract/sharing';
import { notFound } from '../items';
import { normalName } from '../names';
import { readJson, type Network } from '../network';
import { checkedKey, type PeerKeys } from './peer-keys';

const CONNECT_MS = 10_000;
const LIST_MS = 60_000;

/** The origin of another Hearth as somebody may have typed it. Throws HearthError{invalid_request}. */
export function peerOrigin(typed: string): string {
  const text = typed.trim();
  try {
    const url = new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
    const named = url.username !== '' || url.password !== '';
    if ((url.protocol === 'http:' || url.protocol === 'https:') && !named) return url.origin;
  } catch {
    // Told below.
  }
  throw new HearthError(
    'invalid_request',
    `url: "${text.slice(0, 100)}" is no address such as http://192.168.1.20:4327.`,
    {
      param: 'url',
    },
  );
}

export class Peers {
  constructor(
    private readonly network: Network,
    private readonly keys: PeerKeys,
  ) {}

  /** Throws HearthError{invalid_request | offline | unreachable | remote_key_refused | remote_failed}. The key is kept once it was good. */
  async models(origin: string, key?: string): Promise<SharedModel[]> {
    const given = key?.trim() ? checkedKey(key) : undefined;
    const bearer = given ?? this.keys.for(origin);
    const answer = await this.network.open({
      url: origin + SHARED.models,
      purpose: 'lan_import',
      detail: 'models',
      connectMs: CONNECT_MS,
      headMs: LIST_MS,
      redirects: false,
      ...(bearer !== undefined && { bearer }),
    });
    if (answer.status !== 200) {
      answer.body.destroy();
      throw refusal(answer.status, answer.url.host);
    }
    const parsed = sharedModels.safeParse(await readJson(answer).catch(() => undefined));
    if (!parsed.success) throw notHearth(answer.url.host);
    if (given !== undefined) await this.keys.set(origin, given);
    return parsed.data.models;
  }

  /** Throws what `models` throws, and model_not_found with near matches. */
  async model(origin: string, name: string, key?: string): Promise<SharedModel & Required<Pick<SharedModel, 'files'>>> {
    const models = await this.models(origin, key);
    const found = models.find((model) => normalName(model.name) === normalName(name));
    if (!found)
      throw notFound(
        name,
        models.map((model) => model.name),
      );
    const { files } = found;
    if (files) return { ...found, files };
    throw new HearthError('remote_failed', `${found.name} is still being hashed there. Ask again in some minutes.`);
  }

  fileUrl(origin: string, id: string, index: number): string {
    return origin + SHARED.file.replace(':id', encodeURIComponent(id)).replace(':index', String(index));
  }

  bearer(origin: string): string | undefined {
    return this.keys.for(origin);
  }
}

function refusal(status: number, host: string): HearthError {
  if (status === 401 || status === 403) return new HearthError('remote_key_refused', `${host} does not take this key.`);
  if (status === 404) return notHearth(host);
  return new HearthError('remote_failed', `${host} answered with status ${status}.`);
}

const notHearth = (host: string) =>
  new HearthError('remote_failed', `${host} is no Hearth that shares its models, or does not share them now.`);
