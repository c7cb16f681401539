// Everything that reaches beyond this machine for models, put together: the door, its ledger, the token, the hub, the downloads.
import { join } from 'node:path';
import type { Settings } from '../contract/own';
import { createDownloads, type Downloads } from '../library/download/downloads';
import { readCatalogue } from '../library/hub/catalogue';
import { HubClient } from '../library/hub/client';
import { createDiscover, type Discover } from '../library/hub/discover';
import { createNetwork, type Network } from '../library/network';
import { hubOrigin } from '../library/network/addresses';
import { HubToken } from '../library/network/hub-token';
import { openLedger, type Ledger } from '../library/network/ledger';
import { Peers } from '../library/sharing/peer';
import { PeerKeys } from '../library/sharing/peer-keys';
import type { Library } from '../library/types';
import type { DataDir } from './data-dir';
import { hubFits, type HubFitOptions } from './hub-fit';
import { cataloguePath } from './resources';

const USUAL_HUB = 'https://huggingface.co';

export interface FetchingOptions {
  dir: DataDir;
  /** As they are at each moment. */
  settings(): Pick<Settings, 'offline' | 'proxy' | 'hubMirror'>;
  library: Library;
  supervisor: HubFitOptions['supervisor'];
  /** Where the user's own models go. */
  folder(): string;
  log?: (text: string) => void;
}

export interface Fetching {
  network: Network;
  ledger: Ledger;
  discover: Discover;
  downloads: Downloads;
  peers: Peers;
  token: HubToken;
  /** The address of the hub, by these settings. */
  hub(settings?: Pick<Settings, 'hubMirror'>): string;
  close(): Promise<void>;
}

export async function openFetching(options: FetchingOptions): Promise<Fetching> {
  const { dir, settings, library, supervisor, folder, log } = options;
  const ledger = openLedger(join(dir.root, 'connections.json'));
  const network = createNetwork({ settings, ledger });
  const token = new HubToken(join(dir.root, 'hub-token.json'));
  const hub = ({ hubMirror } = settings()) => hubOrigin(hubMirror || process.env.HF_ENDPOINT || USUAL_HUB);
  const client = new HubClient({ network, hub: () => hub(), token: (address) => token.for(address) });
  const discover = createDiscover({
    client,
    catalogue: await readCatalogue(cataloguePath()),
    models: () => library.list(),
    folder,
    fitOf: hubFits({ supervisor, library }),
  });
  const peers = new Peers(network, new PeerKeys(join(dir.root, 'peer-keys.json')));
  const downloads = createDownloads({ folder, network, client, peers, library, ...(log && { log }) });
  return {
    network,
    ledger,
    discover,
    downloads,
    peers,
    token,
    hub,
    close: async () => {
      await downloads.close();
      network.close();
      await ledger.close();
    },
  };
}
