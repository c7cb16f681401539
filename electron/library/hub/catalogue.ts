// The models that Hearth itself speaks of: they come first, and are found without a network. Facts and sentences are in
// resources/catalogue.json; what may be fetched and how large it is, only the hub says.
import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import type { HubModel } from '../../contract/models';

const catalogueEntry = z.object({
  repo: z.string(),
  title: z.string(),
  family: z.string(),
  architecture: z.string(),
  parameters: z.number(),
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
