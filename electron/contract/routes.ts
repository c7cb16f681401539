// Where each message of own.ts lives under /hearth/v1: one table for the server that answers and the page that asks.
// Paths only; `:id` is a path segment. Errors answer with the HTTP status of their code and `{ error: ErrorShape }`.

const OWN = '/hearth/v1';

export const ROUTES = {
  /** GET → AppState */
  state: `${OWN}/state`,
  /** GET → server-sent events, each AppState */
  stateEvents: `${OWN}/state/events`,
  /** GET → { devices: Device[], notes: string[] }: why something is not among them */
  devices: `${OWN}/devices`,
  /** GET → { models: ModelEntry[] } */
  models: `${OWN}/models`,
  /** POST loadRequest → 202 ActiveModel, at once; progress comes with the state */
  modelLoad: `${OWN}/models/load`,
  /** POST → 204: gives the load under way up, also one that waits for room; whoever waited for it is told `cancelled` */
  modelLoadCancel: `${OWN}/models/load/cancel`,
  /** POST unloadRequest → 204 */
  modelUnload: `${OWN}/models/unload`,
  /** POST → { models: ModelEntry[] }, after looking at the folders again */
  modelRefresh: `${OWN}/models/refresh`,
  /** GET ?model= → LoadPlan */
  modelPlan: `${OWN}/models/plan`,
  /** POST { model } → 204: only where its folder is Hearth's own */
  modelRemove: `${OWN}/models/remove`,
  /** POST { model, alias } → ModelEntry; an empty alias takes it away */
  modelAlias: `${OWN}/models/alias`,
  /** GET → { folders: ModelFolder[] }; POST addFolder → 201 ModelFolder */
  folders: `${OWN}/folders`,
  /** DELETE → 204: forgets the folder, deletes nothing in it */
  folder: `${OWN}/folders/:id`,
  /** GET → { locations: Location[], moves: MoveState[] }; POST moveRequest → 202 MoveState */
  moves: `${OWN}/moves`,
  /** GET ?q=&cursor= → DiscoverResult */
  discover: `${OWN}/discover`,
  /** GET ?repo= → HubModel with its files */
  discoverRepo: `${OWN}/discover/repo`,
  /** GET → { downloads: Download[] }; POST downloadRequest → 201 Download. Progress comes with the state. */
  downloads: `${OWN}/downloads`,
  /** DELETE → 204: cancelled, its parts removed */
  download: `${OWN}/downloads/:id`,
  /** POST → Download */
  downloadPause: `${OWN}/downloads/:id/pause`,
  downloadResume: `${OWN}/downloads/:id/resume`,
  /** POST importRequest → 201 { downloads: Download[] }: one for each model found there */
  imports: `${OWN}/imports`,
  /** GET → Sharing; POST shareRequest → Sharing */
  sharing: `${OWN}/sharing`,
  /** POST peerRequest → SharedModels: what another Hearth offers */
  peerModels: `${OWN}/imports/hearth/models`,
  /** POST peerImportRequest → 201 Download. It goes on, pauses and ends as every other one does. */
  peerImport: `${OWN}/imports/hearth`,
  /** GET → { connections: Connection[] } */
  connections: `${OWN}/connections`,
  /** GET → { engines: RemoteEngine[] }; POST remoteEngineRequest → 201 RemoteEngine */
  remoteEngines: `${OWN}/remote-engines`,
  /** DELETE → 204 */
  remoteEngine: `${OWN}/remote-engines/:id`,
  /** POST → RemoteEngine: asks it now */
  remoteEngineCheck: `${OWN}/remote-engines/:id/check`,
  /** GET ?format=json|md → matrixReply or Markdown */
  matrix: `${OWN}/matrix`,
  /** POST matrixCheckRequest → 202 MatrixCheck; how it goes and the rows come with GET */
  matrixCheck: `${OWN}/matrix/check`,
  /** GET → Settings, PATCH settingsPatch → Settings */
  settings: `${OWN}/settings`,
  /** GET ?q= (searches titles and texts) → { chats: Chat[] }, newest first, without deleted ones; POST createChat → 201 Chat */
  chats: `${OWN}/chats`,
  /** GET → ChatWithMessages (all versions); PATCH chatPatch → Chat; DELETE → 204, can be restored */
  chat: `${OWN}/chats/:id`,
  /** POST → Chat: takes a deletion back, every message included */
  chatRestore: `${OWN}/chats/:id/restore`,
  /** POST turnRequest → 201 TurnStarted */
  chatTurns: `${OWN}/chats/:id/turns`,
  /** GET ?cursor=N → server-sent events from N on, `id: N` and TurnEvent as data; ends after `end` */
  turnEvents: `${OWN}/turns/:id/events`,
  /** POST → 204, also when it has already ended */
  turnStop: `${OWN}/turns/:id/stop`,
} as const;

/** What another Hearth asks of this one while its user shares models, and nothing else is answered on the network. Behind the share's key. */
export const SHARED = {
  /** GET → SharedModels */
  models: '/hearth/shared/models',
  /** GET, ranges too → the bytes of the file with this number in the model's list */
  file: '/hearth/shared/models/:id/files/:index',
} as const;
