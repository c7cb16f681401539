// What axe says against a page, as lines to read. Our page has no frames: the simple mode sees all of it, and opens no second page for each look.
import AxeBuilder from '@axe-core/playwright';
import type { Page } from '@playwright/test';

/** What another theme or width can break: names and roles stay as they are. */
export const LOOKS = ['color-contrast', 'scrollable-region-focusable'];

export async function violations(page: Page, rules?: readonly string[]): Promise<string[]> {
  const axe = new AxeBuilder({ page }).setLegacyMode();
  const { violations: found } = await (rules ? axe.withRules([...rules]) : axe).analyze();
  return found.flatMap(({ id, nodes }) =>
    nodes.map((node) => `${id}: ${node.html.slice(0, 160)} ${node.failureSummary?.slice(0, 200) ?? ''}`),
  );
}
