// Where the files of a download come from: what is said of them before anything is written, and their bytes. The hub, another Hearth on
// the network, another disk. What it is told of names is checked here; it writes nothing.
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { HearthError } from '../../contract/errors';
import { checkNames, checkRepo } from '../hub/file-names';
import { fileGroups, groupOf } from '../hub/groups';
import type { HubClient } from '../hub/client';
import type { Network } from '../network';
import { asName } from '../names';
import { peerOrigin, type Peers } from '../sharing/peer';
import { DiskSource } from './disk-source';
import { HubSource } from './hub-source';
import type { DownloadRecord, FileSource, WantedFile } from './types';

/** What is kept of where a download comes from. */
export type Described = Pick<DownloadRecord, 'source' | 'repo' | 'file' | 'revision' | 'commit' | 'files' | 'from'>;

export interface OriginsOptions {
  network: Network;
  client: HubClient;
  /** Absent: nothing is copied from other Hearths. */
  peers?: Peers;
}

const same = (one: WantedFile | undefined, two: WantedFile): boolean =>
  one?.bytes === two.bytes && one.sha256 === two.sha256 && one.blob === two.blob;

export class Origins {
  constructor(private readonly options: OriginsOptions) {}

  /** Throws what the hub's client throws. */
  async hub(repo: string, file: string, revision: string): Promise<Described> {
    const { commit, files, original } = await this.options.client.repository(repo, revision);
    const group = groupOf(fileGroups(files, original), file, repo);
    checkNames(group.files.map(({ path }) => path));
    return { source: 'hub', repo, file: group.path, revision, commit, files: group.files };
  }

  /** Throws what `Peers.model` throws, and unsafe_name. `revision`: the model's name there. */
  async peer(url: string, model: string, key?: string): Promise<Described> {
    const from = peerOrigin(url);
    const { id, name, files } = await this.peers.model(from, model, key);
    checkNames(files.map(({ path }) => path));
    const repo = `hearth/${folderName(name, files)}`;
    checkRepo(repo);
    return { source: 'hearth', repo, file: files[0]?.path ?? '', revision: name, commit: id, files, from };
  }

  /** What is said now of a download that was begun. */
  again({ source, repo, file, revision, from }: DownloadRecord): Promise<Described> {
    if (source === 'hearth') return this.peer(from ?? '', revision);
    return this.hub(repo, file, revision);
  }

  source(record: DownloadRecord, file: WantedFile): FileSource {
    switch (record.source) {
      case 'disk':
        return new DiskSource(join(record.from ?? '', file.path), file);
      case 'hearth':
        return this.peerSource(record, file);
      case 'hub':
        return this.hubSource(record, file);
    }
  }

  private hubSource({ repo, commit }: DownloadRecord, file: WantedFile): FileSource {
    const { network, client } = this.options;
    return new HubSource({
      network,
      repo,
      file,
      purpose: 'download',
      url: () => client.fileUrl(repo, commit, file.path),
      bearer: () => client.bearer(),
      unchanged: async (signal) => {
        const now = await client.repository(repo, commit, signal);
        return same(
          now.files.find(({ path }) => path === file.path),
          file,
        );
      },
    });
  }

  private peerSource({ repo, commit, revision, from = '', files }: DownloadRecord, file: WantedFile): FileSource {
    const { network } = this.options;
    const { peers } = this;
    return new HubSource({
      network,
      repo,
      file,
      purpose: 'lan_import',
      url: () => peers.fileUrl(from, commit, files.indexOf(file)),
      bearer: () => peers.bearer(from),
      unchanged: async () => {
        const now = await peers.model(from, revision);
        return (
          now.id === commit &&
          same(
            now.files.find(({ path }) => path === file.path),
            file,
          )
        );
      },
    });
  }

  private get peers(): Peers {
    const { peers } = this.options;
    if (!peers) throw new HearthError('internal', 'Nothing can be copied from other Hearths here.');
    return peers;
  }
}

/** Means the same on every system, and keeps two models of one name apart. */
function folderName(model: string, files: readonly WantedFile[]): string {
  const content = createHash('sha256').update(files.map(({ sha256 }) => sha256).join());
  const plain = asName(model)
    .replace(/[^\w.-]+/g, '-')
    .replace(/^[.-]+|[.-]+$/g, '');
  return `${plain.slice(0, 100) || 'model'}-${content.digest('hex').slice(0, 6)}`;
}
