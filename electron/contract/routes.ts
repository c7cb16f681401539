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
  /** POST → 204 */
  modelUnload: `${OWN}/models/unload`,
  /** POST → { models: ModelEntry[] }, after looking at the folders again */
  modelRefresh: `${OWN}/models/refresh`,
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
