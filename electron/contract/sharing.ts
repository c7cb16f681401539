// Models from one Hearth to another: what is offered, behind which key, and how it is asked for. Schemas only; the addresses are in
// routes.ts. What comes from another Hearth is as little trusted as what comes from a hub.
import { z } from 'zod';

/** GET /hearth/v1/sharing; POST shareRequest. Whoever has the key may copy models of this Hearth while it is on, and nothing else. */
export const sharing = z.object({
  on: z.boolean(),
  /** On the local network; none where there is none. */
  urls: z.array(z.string()),
  key: z.string().optional(),
});
export type Sharing = z.infer<typeof sharing>;
export const shareRequest = z.object({ on: z.boolean() });

const MOST_MODELS = 1000;
const MOST_FILES = 2000;

export const sharedFile = z.object({
  /** Within the model's own folder. */
  path: z.string().min(1),
  bytes: z.int().nonnegative(),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
});
export type SharedFile = z.infer<typeof sharedFile>;

export const sharedModel = z.object({
  /** Of this state of its files: another one has another. */
  id: z.string().regex(/^[0-9a-f]{32}$/),
  name: z.string().min(1).max(200),
  bytes: z.number().nonnegative(),
  architecture: z.string().optional(),
  quantization: z.string().optional(),
  licence: z.string().optional(),
  /** Absent while they are being hashed: what cannot be compared is not handed out. */
  files: z.array(sharedFile).min(1).max(MOST_FILES).optional(),
});
export type SharedModel = z.infer<typeof sharedModel>;

/** GET /hearth/shared/models, and POST /hearth/v1/imports/hearth/models: what another Hearth offers. */
export const sharedModels = z.object({ models: z.array(sharedModel).max(MOST_MODELS) });
export type SharedModels = z.infer<typeof sharedModels>;

/** Another Hearth that shares models. `key`: kept for its address; absent, the one that is kept. */
export const peerRequest = z.object({ url: z.string().min(1).max(500), key: z.string().max(500).optional() });
export type PeerRequest = z.infer<typeof peerRequest>;
/** POST /hearth/v1/imports/hearth: copies one of its models here. */
export const peerImportRequest = peerRequest.extend({ model: z.string().min(1).max(200) });
export type PeerImportRequest = z.infer<typeof peerImportRequest>;
