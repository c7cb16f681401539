// The models that Hearth itself speaks of: they come first, and are found without a network. Facts and sentences are in
// resources/catalogue.json; what may be fetched and how large it is, only the hub says.
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { HubModel } from '../../contract/models';

/** What its card says: enough to tell what a conversation with it takes. */
const shape = z.object({
  layers: z.int(),
  hidden: z.int(),
  vocabulary: z.int(),
  context: z.int(),
  kvWidth: z.int(),
  windows: z.array(z.int()).min(1),
  tied: z.boolean().optional(),
  experts: z.object({ count: z.int(), used: z.int(), parameters: z.number() }).optional(),
});
export type CatalogueShape = z.infer<typeof shape>;

const catalogueEntry = z.object({
  repo: z.string(),
  title: z.string(),
  family: z.string(),
  architecture: z.string(),
  parameters: z.number(),
  shape,
  licence: z.string(),
  summary: z.object({ en: z.string(), zh: z.string() }),
});
export type CatalogueEntry = z.infer<typeof catalogueEntry>;

export const catalogueSchema = z.array(catalogueEntry);

/** A packaging mistake is no reason not to search the hub. */
export async function readCatalogue(path: string): Promise<CatalogueEntry[]> {
  try {
    return catalogueSchema.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch {
    return [];
  }
}

export function featured({ repo, title, architecture, parameters, licence, summary }: CatalogueEntry): HubModel {
  return { repo, title, architecture, parameters, licence, summary, gated: false, featured: true };
}

/** A model of the catalogue packed or trained further by somebody else has its shape. */
const SAME_PARAMETERS = 0.02;

export function shapeOf(
  entries: readonly CatalogueEntry[],
  { repo, architecture, parameters }: Pick<HubModel, 'repo' | 'architecture' | 'parameters'>,
): CatalogueShape | undefined {
  const own = entries.find((one) => one.repo === repo);
  const like = entries.find(
    (one) =>
      one.architecture === architecture &&
      Math.abs(one.parameters - (parameters ?? 0)) <= SAME_PARAMETERS * one.parameters,
  );
  return (own ?? like)?.shape;
}

/** Every word must be somewhere; no word finds all, in the catalogue's own order. */
export function searchCatalogue(entries: readonly CatalogueEntry[], query: string): HubModel[] {
  const words = query
    .toLowerCase()
    .split(/[\s/_-]+/)
    .filter((word) => word !== '');
  const text = ({ repo, title, family, summary }: CatalogueEntry) =>
    [repo, title, family, summary.en, summary.zh].join(' ').toLowerCase();
  return entries.filter((one) => words.every((word) => text(one).includes(word))).map(featured);
}
