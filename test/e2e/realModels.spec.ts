// The page about models against the real server, the real engine, a hub on loopback and two other computers: what a stub could be wrong about.
import { existsSync, readdirSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, type Locator, type Page } from '@playwright/test';
import { FakeHub } from '../integration/fake-hub';
import { callsTool, openStub, says, type StubEngine } from '../unit/supervisor/remote/scripted-engine';
import { folder, forget, missing, startHearth, twin, twinBytes, type RealHearth } from './real/hearth';
import { filesBelow, layOut } from './real/layouts';

const MODEL = 'tiny-Q4_K_M.gguf';
/** For all models together: one of those here, and not two. */
const MEMORY_GB = '0.13';

const file = twinBytes('from the hub');
const hub = new FakeHub({ [MODEL]: file });
const home = folder();
const there = folder();
let hearth: RealHearth;
let other: RealHearth;
let engine: StubEngine;
let sources: ReturnType<typeof layOut>;

const visit = (page: Page, hash: string): Promise<void> => page.evaluate((where) => void (location.hash = where), hash);
const card = (page: Page, name: string): Locator =>
  page.getByRole('listitem').filter({ has: page.getByRole('heading', { name, exact: true }) });
const open = async (page: Page, hash: string, at = hearth): Promise<void> => {
  await page.goto('about:blank');
  await page.goto(at.entry);
  await page.getByRole('textbox', { name: 'Your message' }).waitFor();
  await visit(page, hash);
};
const start = (): Promise<RealHearth> => startHearth(home, { HF_ENDPOINT: hub.url }, '--memory', MEMORY_GB);
const complete = (body: object): Promise<Response> =>
  fetch(`${hearth.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });

test.skip(missing !== undefined, `There is no ${missing}.`);

test.beforeAll(async () => {
  await hub.listen();
  twin(join(home, 'models/second.gguf'));
  truncateSync(twin(join(home, 'models/broken.gguf')), 900_000);
  sources = layOut(join(home, 'home'));
  twin(join(there, 'models/gift.gguf'));
  [hearth, other, engine] = await Promise.all([start(), startHearth(there), openStub()]);
});

test.afterAll(async () => {
  await Promise.all([hearth?.close(), other?.close(), engine?.close(), hub.close()]);
  for (const path of [home, there]) forget(path);
});

test('what lies here says whether it fits, and what is broken why', async ({ page }) => {
  await open(page, '#/models');
  await expect(card(page, 'starter')).toContainText('In use');
  await expect(card(page, 'second')).toContainText(/Tight, [\d.]+ MB to spare/);
  await expect(card(page, 'second')).toContainText('gpt-oss');
  await expect(card(page, 'broken')).toContainText('This file is damaged');
  await card(page, 'broken').getByRole('button', { name: 'Find a model' }).click();
  await expect(page.getByRole('searchbox')).toBeVisible();
});

test('folders of other programs are used where they lie: nothing is copied, and forgetting one deletes nothing', async ({
  page,
}) => {
  const files = (): string[] => [
    ...sources.flatMap(({ path }) => filesBelow(path)),
    ...filesBelow(join(home, 'models')),
  ];
  const before = files();
  await open(page, '#/settings/storage');
  for (const { path, kind } of sources) {
    await page.getByRole('button', { name: `Add ${path}` }).click();
    const row = page.getByRole('listitem').filter({ hasText: path });
    await expect(row).toContainText('1 model');
    await expect(row).toContainText(kind);
  }
  await visit(page, '#/models');
  for (const { model } of sources) await expect(card(page, model).getByRole('button', { name: 'Use' })).toBeVisible();
  await visit(page, '#/settings/storage');
  for (const { path } of sources) await page.getByRole('button', { name: `Forget ${path}` }).click();
  await visit(page, '#/models');
  for (const { model } of sources) await expect(card(page, model)).toHaveCount(0);
  expect(files()).toEqual(before);
});

test('a model chosen by what it takes waits for the running answer, and one press leads back', async ({ page }) => {
  await open(page, '#/models');
  const items = 200;
  const schema = {
    type: 'object',
    properties: { n: { type: 'array', items: { enum: [1, 2] }, minItems: items, maxItems: items } },
    required: ['n'],
    additionalProperties: false,
  };
  const running = complete({
    model: 'starter',
    messages: [{ role: 'user', content: 'Count.' }],
    // Else it may say one number for ever, which ends an answer.
    temperature: 2,
    reasoning_effort: 'low',
    response_format: { type: 'json_schema', json_schema: { name: 'numbers', strict: true, schema } },
  });
  await expect(page.getByRole('contentinfo')).toContainText('Writing');
  await page.getByRole('button', { name: 'More about second' }).click();
  await page.getByRole('menuitem', { name: 'Choose how it is loaded…' }).click();
  const dialog = page.getByRole('dialog', { name: 'Load second' });
  await dialog.getByText('Exact numbers').click();
  await dialog.getByRole('spinbutton').fill('1024');
  await dialog.getByRole('button', { name: /^Load/ }).click();
  await expect(page.locator('.notice')).toContainText('Changing to second after this answer');
  const { choices } = await (await running).json();
  expect(choices[0].finish_reason).toBe('stop');
  expect(JSON.parse(choices[0].message.content).n).toHaveLength(items);
  await expect(page.getByText('second is in use now')).toBeVisible();
  await page.locator('.notice').getByRole('button', { name: 'Go back' }).click();
  await expect(card(page, 'starter')).toContainText('In use');
});

test('a load that fails names the model that failed, and the one before answers on', async ({ page }) => {
  await open(page, '#/models');
  const path = twin(join(home, 'models/soon-damaged.gguf'));
  await expect(card(page, 'soon-damaged').getByRole('button', { name: 'Use' })).toBeVisible({ timeout: 20_000 });
  // Damaged after it was listed, just before it is loaded.
  await page.route('**/models/load', (route) => (truncateSync(path, 900_000), route.continue()));
  await card(page, 'soon-damaged').getByRole('button', { name: 'Use' }).click();
  const note = page.locator('.error-note').filter({ hasText: 'could not be loaded' });
  await expect(note).toContainText('soon-damaged could not be loaded');
  await expect(card(page, 'starter')).toContainText('In use');
  await visit(page, '#/chat');
  await page.getByRole('button', { name: /^Model: starter/ }).click();
  // Its own entry says nothing of a failure that is another model's.
  await expect(page.getByRole('option', { name: /^starter/ })).not.toContainText('damaged');
});

test('a download is called off without a trace; another is paused, outlives a killed Hearth, and goes on where it was', async ({
  page,
}) => {
  let slow = true;
  hub.behaviour = () => (slow ? { stallAt: 6_000_000 } : undefined);
  await open(page, '#/models/discover');
  const pausedAt = async (): Promise<void> => {
    await page.getByRole('searchbox').fill('tiny');
    const found = card(page, 'tiny');
    const files = found.getByRole('button', { name: 'Look at its files' });
    const fetch = found.getByRole('button', { name: /^Download tiny/ });
    await files.or(fetch).waitFor();
    // The page remembers what it looked at.
    if (await files.isVisible()) await files.click();
    await expect(found).toContainText(/(Fits|Tight|Too big)/);
    await fetch.click();
    await found.getByRole('link', { name: /Fetching/ }).click();
    await page.getByRole('button', { name: `Pause ${MODEL}` }).click();
    await expect(page.locator('.download-phase')).toHaveText('Paused');
  };
  await pausedAt();
  await page.getByRole('button', { name: `Cancel ${MODEL}` }).click();
  await page.getByRole('button', { name: 'Stop and delete' }).click();
  await expect(page.locator('.download')).toHaveCount(0);
  const left = join(home, 'models/.downloads');
  expect(existsSync(left) ? readdirSync(left).filter((name) => name !== 'lock') : []).toEqual([]);
  const before = hub.sent;
  await visit(page, '#/models/discover');
  await pausedAt();
  await hearth.kill();
  hearth = await start();
  await open(page, '#/models/downloads');
  await expect(page.locator('.download-phase')).toHaveText('Paused');
  slow = false;
  await page.getByRole('button', { name: `Go on with ${MODEL}` }).click();
  await expect(page.locator('.download-phase')).toHaveText('Complete and checked');
  expect(hub.sent - before).toBeLessThan(file.length * 1.2);
  await visit(page, '#/models');
  await expect(card(page, 'tiny-q4_k_m')).toContainText('files are as published');
});

test('another Hearth shares its models through its page, and one is copied here through this one', async ({ page }) => {
  await open(page, '#/models/remote', other);
  await page.getByRole('switch', { name: /^Share the models/ }).click();
  const key = await page.locator('.rows').last().locator('code').last().innerText();
  await open(page, '#/models/remote');
  const copy = page.getByRole('button', { name: /^Copy gift/ });
  // Its hash is made in the background.
  await expect(async () => {
    await page.getByRole('button', { name: 'Copy from another Hearth…' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByRole('textbox', { name: 'Address' }).fill(other.url);
    await dialog.getByLabel('Key').fill(key);
    await dialog.getByRole('button', { name: 'Show its models' }).click();
    await expect(copy).toBeEnabled({ timeout: 1000 });
  }).toPass({ timeout: 30_000 });
  await copy.click();
  await expect(page.getByRole('listitem').filter({ hasText: 'gift' }).getByRole('link')).toContainText('Complete');
  expect(existsSync(join(home, 'models/hearth'))).toBe(true);
  await visit(page, '#/models');
  await expect(card(page, 'gift').getByRole('button', { name: 'Use' })).toBeVisible();
});

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    parameters: {
      type: 'object',
      properties: { city: { type: 'string', enum: ['Ulm', 'Bonn'] } },
      required: ['city'],
      additionalProperties: false,
    },
  },
};

test('another Hearth and an engine of another kind are connected, answer in the chat, and call tools', async ({
  page,
}) => {
  const computers = [
    { name: 'Attic', url: other.url, key: other.token, model: 'starter@attic' },
    { name: 'Cluster', url: engine.url, key: '', model: 'org/big-model@cluster' },
  ];
  await open(page, '#/models/remote');
  for (const { name, url, key, model } of computers) {
    await page.getByRole('button', { name: 'Connect a computer' }).click();
    await page.getByRole('textbox', { name: 'Address' }).fill(url);
    await page.getByRole('textbox', { name: 'Name' }).fill(name);
    await page.getByLabel(/^Key/).fill(key);
    await page.getByRole('button', { name: 'Connect', exact: true }).click();
    await expect(card(page, name)).toContainText(/Answers in/);
    await expect(card(page, name)).toContainText(model);
  }
  engine.respond = says('It ', 'rains.');
  for (const { name, model } of computers) {
    await visit(page, '#/chat');
    await page.getByRole('button', { name: /^Model:/ }).click();
    await page.keyboard.type(name);
    await page.keyboard.press('Enter');
    await expect(page.getByRole('button', { name: `Model: ${model}` })).toContainText(`on ${name}`);
    await page.getByRole('textbox', { name: 'Your message' }).fill('Hello, how are you?');
    await page.keyboard.press('Enter');
    const answer = page.getByRole('article', { name: 'Answer' }).last();
    await expect(answer.locator('.md')).toHaveText(name === 'Cluster' ? 'It rains.' : /\S/);
    await page.locator('article[aria-busy="true"]').waitFor({ state: 'detached' });
  }
  engine.respond = callsTool;
  for (const { model } of computers) {
    const streamed = await complete({
      model,
      stream: true,
      messages: [{ role: 'user', content: 'Weather?' }],
      tools: [weather],
      tool_choice: { type: 'function', function: { name: 'weather' } },
    });
    const text = await streamed.text();
    expect(text.split('\n\n').length).toBeGreaterThan(5);
    expect(text).toContain('"name":"weather"');
    expect(text).toContain('"finish_reason":"tool_calls"');
  }
});
