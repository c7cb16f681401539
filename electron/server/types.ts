// What the server is given and what it offers. It knows services by their interfaces alone: no processes, no database, no files
// but those of the built page.
import type { Location, MoveRequest, MoveState } from '../contract/models';
import type { Settings } from '../contract/own';
import type { Downloads } from '../library/download/downloads';
import type { Discover } from '../library/hub/discover';
import type { Ledger } from '../library/network/ledger';
import type { Peers } from '../library/sharing/peer';
import type { Shelf } from '../library/sharing/shelf';
import type { Library } from '../library/types';
import type { Store } from '../store/types';
import type { Matrix } from '../supervisor/matrix/matrix';
import type { RemoteEngines } from '../supervisor/remote/engines';
import type { Supervisor } from '../supervisor/types';

/** What the server tells the telemetry, and the text that it serves at /metrics. */
export interface ServerTelemetry {
  /** Prometheus text. */
  text(): Promise<string> | string;
  /** Told once per answered request; `route` is the pattern, never the address. */
  request?(sample: { route: string; method: string; status: number; ms: number }): void;
}

export interface ServerLog {
  info(text: string, fields?: Record<string, unknown>): void;
  warn(text: string, fields?: Record<string, unknown>): void;
  error(text: string, fields?: Record<string, unknown>): void;
}

/** Where Hearth's own things lie. */
export interface Locations {
  list(): Promise<Location[]>;
  /** The latest of each kind. */
  moves(): MoveState[];
  /** Begins a move and gives its first state; throws HearthError where it cannot be begun. */
  move(request: MoveRequest): Promise<MoveState>;
}

/** What reaches beyond this machine for models. */
export interface Fetching {
  discover: Discover;
  downloads: Downloads;
  /** Other Hearths that share their models. */
  peers: Pick<Peers, 'models'>;
  ledger: Pick<Ledger, 'list'>;
  /** The user's token for the hub: never given back, and bound to the hub it was entered for. */
  token: { readonly isSet: boolean; set(token: string, hub: string): Promise<void>; clear(): Promise<void> };
  /** Throws HearthError{invalid_request} for a mirror that is none. */
  hub(settings: Pick<Settings, 'hubMirror'>): string;
}

/** Models that other Hearths may copy, and the key that they need. */
export interface SharedThings {
  shelf: Shelf;
  key: { readonly on: boolean; readonly key: string | undefined; switch(on: boolean): Promise<void> };
}

export interface ServerOptions {
  supervisor: Supervisor;
  library: Library;
  store: Store;
  matrix: Matrix;
  engines: RemoteEngines;
  telemetry?: ServerTelemetry;
  /** Of the app's own API. */
  token: string;
  version: string;
  /** Absent: nothing can be fetched. */
  fetching?: Fetching;
  /** Where the user's own models go, for the page to say. */
  modelsFolder?(): string;
  locations?: Locations;
  /** Absent: nothing can be shared. */
  sharing?: SharedThings;
  /** Folder of the built page; absent: no page is served. */
  staticDir?: string;
  /** Never given a prompt, an answer or a key. */
  log?: ServerLog;
}

export interface ListenOptions {
  /** Where the port is taken, try the ones after it. Else `port_in_use` is thrown. */
  nextFree?: boolean;
}

export interface Listening {
  /** http://127.0.0.1:PORT */
  url: string;
  port: number;
  /** Whether ::1 listens too. */
  ipv6: boolean;
}

export interface Server {
  /** Port 0: any free one. Throws HearthError `port_in_use`. */
  listen(port: number, options?: ListenOptions): Promise<Listening>;
  /** Ends running answers (kept as interrupted), closes every connection. */
  close(): Promise<void>;
}

export const DEFAULT_PORT = 4327;
