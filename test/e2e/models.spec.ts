// Models through the page: found, fetched, loaded by choice, changed under a running answer, refused, kept in folders, asked elsewhere.
import type { Page } from '@playwright/test';
import { LOOKS, violations } from './stub/axe';
import { expect, test } from './stub/fixture';

const visit = (page: Page, hash: string): Promise<void> => page.evaluate((where) => void (location.hash = where), hash);

test('a model is found, fetched, paused, taken up again and used', async ({ hearth, page }) => {
  hearth.stub.library.stepMs = 1500;
  await visit(page, '#/models/discover');
  await page.getByRole('searchbox', { name: 'Search for models' }).fill('qwen');
  const card = page.getByRole('listitem').filter({ has: page.getByRole('heading', { name: 'Qwen3 8B' }) });
  // Of five versions the one that suits stands alone, the others are folded.
  await expect(card.getByRole('button', { name: /^Download/ })).toHaveCount(1);
  await card.getByRole('button', { name: 'Download Qwen3 8B Q5_K_M, 5.9 GB' }).click();
  await card.getByRole('link', { name: /Fetching/ }).click();
  await page.getByRole('button', { name: 'Pause qwen3-8b-q5_k_m.gguf' }).click();
  await expect(page.locator('.download-phase')).toHaveText('Paused');
  await expect(page.getByRole('contentinfo')).toContainText('Download paused');
  hearth.stub.library.stepMs = 60;
  await page.getByRole('button', { name: 'Go on with qwen3-8b-q5_k_m.gguf' }).click();
  await expect(page.getByText('Complete and checked')).toBeVisible();
  await page.locator('.download').getByRole('button', { name: 'Use' }).click();
  await expect.poll(() => hearth.stub.state.active?.name).toBe('qwen3-8b-q5_k_m');
});

test('a load is chosen: the bar follows the choice, and what must make room is named', async ({ hearth, page }) => {
  hearth.stub.library.loadStepMs = 1500;
  await visit(page, '#/models');
  await page.getByRole('button', { name: 'More about smollm2-135m-instruct-q4_1' }).click();
  await page.getByRole('menuitem', { name: 'Choose how it is loaded…' }).click();
  const dialog = page.getByRole('dialog');
  await expect(dialog).toContainText('this is put away first: gpt-oss-20b-mxfp4');
  const conversation = dialog.locator('.budget-parts [data-part="conversation"]');
  await expect(conversation).toContainText('1.6 GB');
  await dialog.getByText('Long memory').click();
  await expect(conversation).toContainText('6.4 GB');
  await dialog.getByText('Exact numbers').click();
  await dialog.getByRole('spinbutton').fill('65536');
  await expect(conversation).toContainText('3.2 GB');
  await dialog.getByRole('button', { name: 'Load', exact: true }).click();
  await page.getByRole('button', { name: 'Stop loading' }).click();
  await expect.poll(() => hearth.stub.state.active?.name).toBe('gpt-oss-20b-mxfp4');
  const asked = hearth.stub.library.asked.find(({ url }) => url.endsWith('/models/load'));
  expect(asked?.body).toEqual({ model: 'smollm2-135m-instruct-q4_1', context: 65_536, kvType: 'f16' });
});

test('what is too big is not loaded by one press, and the warning says so', async ({ hearth, page }) => {
  await visit(page, '#/models');
  const card = page.getByRole('listitem').filter({ hasText: 'gemma-3-27b' });
  await expect(card).toContainText('Too big by 2.3 GB');
  await card.getByRole('button', { name: 'Use' }).click();
  await page.getByRole('dialog').getByText('Long memory').click();
  await expect(page.getByRole('dialog')).toContainText('This needs more memory than there is.');
  await expect(page.getByRole('button', { name: 'Load all the same' })).toBeVisible();
  expect(hearth.stub.library.asked).toEqual([]);
});

test('a change of model waits for the running answer, says so, and leads back', async ({ hearth, page }) => {
  await hearth.ask('endless');
  await page.getByRole('button', { name: /^Model:/ }).click();
  await page.keyboard.type('smol');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('contentinfo')).toContainText('Changing to smollm2-135m-instruct-q4_1 after this answer');
  await expect(page.getByRole('button', { name: /^Model: gpt-oss-20b/ })).toContainText('about 14 sec');
  await page.getByRole('button', { name: 'Stop', exact: true }).click();
  await expect(page.getByText('smollm2-135m-instruct-q4_1 is in use now')).toBeVisible();
  await page.getByRole('button', { name: 'Go back' }).click();
  await expect.poll(() => hearth.stub.state.active?.name).toBe('gpt-oss-20b-mxfp4');
});

test('a load that fails says why, offers one thing, and the model before goes on', async ({ hearth, page }) => {
  hearth.stub.library.failing.set('smollm2-135m-instruct-q4_1', {
    code: 'out_of_ram',
    message: 'KV needs 3.2 GiB',
    needed: 3.2e9,
    available: 1e9,
  });
  await visit(page, '#/models');
  const card = page.getByRole('listitem').filter({ hasText: 'smollm2' });
  await card.getByRole('button', { name: 'Use' }).click();
  const note = page.locator('.error-note').filter({ hasText: 'could not be loaded' });
  await expect(note).toContainText('smollm2-135m-instruct-q4_1 could not be loaded');
  await expect(note).toContainText('3.2 GB needed, 1.0 GB free.');
  await expect(page.getByRole('listitem').filter({ hasText: 'gpt-oss-20b' })).toContainText('In use');
  await note.getByRole('button', { name: 'Choose a smaller memory' }).click();
  await expect(page.getByRole('dialog', { name: /Load smollm2/ })).toBeVisible();
});

test('a model is deleted only after its bytes were named, and never from another program’s folder', async ({
  hearth,
  page,
}) => {
  await visit(page, '#/models');
  await page.getByRole('button', { name: 'More about smollm2-135m-instruct-q4_1' }).click();
  await expect(page.getByRole('menuitem', { name: /Delete from the disk/ })).toHaveAttribute('aria-disabled', 'true');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'More about gemma-3-27b-it-q4_k_m' }).click();
  await page.getByRole('menuitem', { name: /Delete from the disk/ }).click();
  await expect(page.getByRole('alertdialog')).toContainText('17 GB');
  await page.getByRole('button', { name: 'Delete 17 GB' }).click();
  await expect(page.getByRole('listitem').filter({ hasText: 'gemma-3-27b' })).toHaveCount(0);
  expect(hearth.stub.models.some(({ name }) => name.startsWith('gemma'))).toBe(false);
});

test('folders are taken over with one press, added by path, and forgotten', async ({ hearth, page }) => {
  await visit(page, '#/settings/storage');
  await expect(page.getByText('It is not there now. Is its disk connected?')).toBeVisible();
  await page.getByRole('button', { name: 'Add /home/ana/.lmstudio/models' }).click();
  await expect(page.getByText('7 models, 41 GB')).toBeVisible();
  await page.getByRole('textbox', { name: 'Path of a folder' }).fill('/mnt/models');
  await page.keyboard.press('Enter');
  await page.getByRole('button', { name: 'Forget /mnt/models' }).click();
  await expect(page.getByText('/mnt/models')).toHaveCount(0);
  expect(hearth.stub.library.folders.map(({ path }) => path)).toContain('/home/ana/.lmstudio/models');
});

test('another computer is connected by a pasted address, and its models are listed', async ({ hearth, page }) => {
  await visit(page, '#/models/remote');
  await page.getByRole('button', { name: 'Connect a computer' }).click();
  await page.getByRole('textbox', { name: 'Address' }).fill('10.0.0.7:8000');
  await page.getByLabel(/^Key/).fill('sk-secret-1');
  await expect(page.getByRole('dialog')).toContainText('not encrypted');
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  const card = page.getByRole('listitem').filter({ hasText: '10.0.0.7:8000' }).first();
  await expect(card).toContainText('Answers in 42 ms');
  await expect(card).toContainText('openai/gpt-oss-120b');
  expect(hearth.stub.library.asked[0]?.body).toEqual({
    name: '10.0.0.7:8000',
    url: 'http://10.0.0.7:8000/v1',
    key: 'sk-secret-1',
  });
  expect(await page.content()).not.toContain('sk-secret-1');
});

test('offline mode keeps to what is known, and the token never comes back', async ({ hearth, page }) => {
  await visit(page, '#/settings/network');
  await page.getByRole('switch', { name: /Offline mode/ }).click();
  await page.getByLabel('Token for the hub').fill('hf_secret');
  await page.keyboard.press('Enter');
  await expect(page.getByPlaceholder('A token is kept')).toHaveValue('');
  expect(hearth.stub.settings).toMatchObject({ offline: true, hubTokenSet: true });
  await expect(page.getByRole('region', { name: /Everything that left/ })).toContainText('not made: offline mode');
  await visit(page, '#/models/discover');
  await expect(page.getByText(/^Offline mode is on/)).toBeVisible();
  await page.getByRole('button', { name: 'Turn offline mode off' }).click();
  await expect(page.getByText(/^Offline mode is on/)).toHaveCount(0);
});

test('measurements are read as a table and kept as a file', async ({ page, hearth }) => {
  await expect(hearth.box).toBeVisible();
  await visit(page, '#/models/measured');
  await expect(page.getByText('Worse than the last time all was well: Writing, words a second.')).toBeVisible();
  const saved = page.waitForEvent('download');
  await page.getByRole('button', { name: 'Markdown' }).click();
  expect((await saved).suggestedFilename()).toBe('hearth-measured.md');
});

test('models are copied from a disk: the place is asked for, and a place without any says so', async ({
  hearth,
  page,
}) => {
  hearth.stub.library.stepMs = 300;
  await visit(page, '#/models/downloads');
  await page.getByRole('button', { name: 'Copy models from a disk…' }).click();
  const path = page.getByRole('dialog').getByRole('textbox');
  await path.fill('/nowhere');
  await path.press('Enter');
  await expect(page.getByRole('alert')).toContainText('There is no model at this place');
  await path.fill('/media/usb');
  await path.press('Enter');
  const row = page.locator('.download');
  await expect(row.locator('.download-phase')).toHaveText('Copying');
  await expect(row.locator('.download-phase')).toHaveText('Complete and checked');
  await row.getByRole('button', { name: 'Take qwen3-4b-q4_k_m.gguf off this list' }).click();
  await expect(row).toHaveCount(0);
});

test('models of another Hearth are copied with its key, and a wrong one is said so', async ({ hearth, page }) => {
  hearth.stub.library.stepMs = 100;
  await visit(page, '#/models/remote');
  await page.getByRole('button', { name: 'Copy from another Hearth…' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByRole('textbox', { name: 'Address' }).fill('192.168.1.20:4327');
  await dialog.getByLabel('Key').fill('wrong');
  await page.keyboard.press('Enter');
  await expect(dialog.getByRole('alert')).toContainText('It does not take this key.');
  await dialog.getByLabel('Key').fill('right');
  await page.keyboard.press('Enter');
  const offered = page.getByRole('listitem').filter({ hasText: '12 GB' });
  await expect(page.getByRole('button', { name: /^Copy qwen3-8b/ })).toBeDisabled();
  await offered.getByRole('button', { name: /^Copy gpt-oss-20b-mxfp4/ }).click();
  await expect(offered.getByRole('link')).toContainText('Complete and checked');
  await page.getByRole('switch', { name: /^Share the models/ }).click();
  await expect(page.getByText('http://192.168.1.20:4327', { exact: true })).toBeVisible();
  await expect(page.getByRole('button', { name: 'Copy: Key' })).toBeVisible();
  expect(hearth.stub.library.sharing.on).toBe(true);
});

test('a download that was begun anew says why', async ({ hearth, page }) => {
  const common = { id: 'd', source: 'hub', repo: 'o/m', file: 'm.gguf', bytesPerSecond: 4e6 } as const;
  hearth.stub.state.downloads = [{ ...common, phase: 'fetching', doneBytes: 1e6, totalBytes: 4e9, restarted: true }];
  hearth.stub.changed();
  await visit(page, '#/models/downloads');
  await expect(page.locator('.download')).toContainText('changed on the hub meanwhile');
});

test('a model that writes is put away only after one was asked', async ({ hearth, page }) => {
  await hearth.ask('endless');
  await visit(page, '#/models');
  await page.getByRole('button', { name: 'Put away' }).click();
  await expect(page.getByRole('alertdialog')).toContainText('It is writing an answer, which would end here.');
  await page.getByRole('button', { name: 'Let it finish' }).click();
  expect(hearth.stub.library.asked.filter(({ url }) => url.endsWith('/unload'))).toEqual([]);
});

const PLACES = ['#/models', '#/models/discover', '#/models/downloads', '#/models/remote', '#/models/measured'];

test('axe finds nothing on the pages about models, and nothing spills over', async ({ hearth, page }) => {
  test.setTimeout(120_000);
  // Names and roles once; colours and scrolling in the other theme and on a small screen, too.
  for (const [theme, width, rules] of [
    ['light', 1280, undefined],
    ['dark', 390, LOOKS],
  ] as const) {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await page.setViewportSize({ width, height: 844 });
    for (const place of [...PLACES, '#/settings/storage', '#/settings/network']) {
      await visit(page, place);
      await expect(page.locator('.section').first()).toBeVisible();
      expect(await violations(page, rules), place).toEqual([]);
      expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(width);
    }
  }
  await visit(page, '#/models');
  await page.getByRole('button', { name: /^More about smollm2/ }).click();
  await page.getByRole('menuitem').first().click();
  await expect(page.getByRole('dialog')).toContainText('The conversation');
  expect(await violations(page)).toEqual([]);
  expect(hearth.stub.library.asked).toEqual([]);
});
