// A conversation in a real browser: streaming, stopping, writing again, reloading, coming back.
import { expect, test } from './stub/fixture';
import { RICH } from './stub/script';

test('an answer streams in, and its numbers and receipt are there', async ({ hearth, page }) => {
  await hearth.ask('hello');
  await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
  await expect(hearth.answer).toContainText('The old lamp');
  const early = (await hearth.answer.innerText()).length;
  await expect.poll(async () => (await hearth.answer.innerText()).length).toBeGreaterThan(early);
  await hearth.finished();
  await expect(hearth.answer).toContainText(/tokens\/s · |tokens\/s/);
  await expect(hearth.answer).toContainText('finished');
  await page.getByRole('button', { name: 'Receipt' }).click();
  await expect(page.getByRole('dialog')).toContainText('421337');
});

test('stop keeps what was written and says so; Esc stops as well', async ({ hearth, page }) => {
  await hearth.ask('an endless tale');
  await expect(hearth.answer).toContainText('The old lamp');
  await page.getByRole('button', { name: 'Stop' }).click();
  await hearth.finished();
  await expect(hearth.answer).toContainText('You stopped this answer.');
  await expect(hearth.answer).toContainText('The old lamp');
  await hearth.ask('another endless tale');
  await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
  await hearth.box.press('Escape');
  await hearth.finished();
  await expect(hearth.answer).toContainText('You stopped this answer.');
});

test('writing again makes a version and loses none', async ({ hearth, page }) => {
  await hearth.ask('hello');
  await hearth.finished();
  await page.getByRole('button', { name: 'Write it again' }).click();
  await expect(page.getByRole('group', { name: 'Version 2 of 2' })).toBeVisible();
  await hearth.finished();
  await page.getByRole('button', { name: 'Previous version' }).click();
  await expect(page.getByRole('group', { name: 'Version 1 of 2' })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('group', { name: 'Version 1 of 2' })).toBeVisible();
});

test('editing an earlier message keeps the old one as a version', async ({ hearth, page }) => {
  await hearth.ask('hello');
  await hearth.finished();
  await page.getByRole('article', { name: 'You' }).hover();
  await page.getByRole('button', { name: 'Edit and send again' }).click();
  await expect(hearth.box).toHaveValue('hello');
  await hearth.box.fill('hello again');
  await hearth.box.press('Enter');
  await expect(page.getByRole('article', { name: 'You' })).toHaveText(/hello again/);
  await hearth.finished();
  await page.getByRole('article', { name: 'You' }).hover();
  await page.getByRole('button', { name: 'Previous version' }).click();
  await expect(page.getByRole('article', { name: 'You' })).toHaveText(/^hello/);
});

test('a reload in the middle of an answer loses nothing and repeats nothing', async ({ hearth, page }) => {
  await hearth.ask('please think about a story');
  await expect(page.getByRole('button', { name: /Thinking…/ })).toBeVisible();
  await page.reload();
  await expect(page.getByRole('button', { name: 'Stop' })).toBeVisible();
  await hearth.finished();
  const text = await page.locator('.md').last().innerText();
  expect(text.match(/The old lamp/g)).toHaveLength(1);
  expect(text).toContain('did not find one.');
});

test('a second window shows the same answer growing', async ({ hearth, page, context }) => {
  await hearth.ask('an endless tale');
  const second = await context.newPage();
  await second.goto(hearth.stub.entry);
  await second.goto(page.url());
  await expect(second.locator('.md').last()).toContainText('The old lamp');
  await expect(second.getByRole('button', { name: 'Stop' })).toBeVisible();
  await second.getByRole('button', { name: 'Stop' }).click();
  await hearth.finished();
  await expect(hearth.answer).toContainText('You stopped this answer.');
});

test('thoughts are folded, open to a place of their own, and are not part of the copy', async ({
  hearth,
  page,
  context,
}) => {
  await context.grantPermissions(['clipboard-read', 'clipboard-write']);
  await hearth.ask('show me something rich');
  await hearth.finished();
  const line = page.getByRole('button', { name: /Thought for/ });
  await expect(line).toHaveAttribute('aria-expanded', 'false');
  await line.click();
  await expect(page.getByRole('region', { name: 'What the model thought' })).toContainText('golden ratio');
  await page.getByRole('button', { name: 'Copy answer' }).click();
  expect(await page.evaluate(() => navigator.clipboard.readText())).toBe(RICH);
});

test('code, formulas and tables are drawn; money is left alone', async ({ hearth, page }) => {
  await hearth.ask('show me something rich');
  await hearth.finished();
  await expect(page.locator('.code span[style*="keyword"]').first()).toBeVisible();
  await expect(page.locator('.katex').first()).toBeVisible();
  await expect(hearth.answer).toContainText('A coffee costs $5 and a cake $10');
  await expect(page.getByRole('table')).toContainText('6,765');
  expect(await hearth.bottomGap()).toBeLessThan(4);
});

test('reading, loading and failing are said in words, with a way on', async ({ hearth, page }) => {
  await hearth.ask('please read this');
  await expect(hearth.answer).toContainText(/Reading [\d,]+ of 1,200 tokens/);
  await hearth.finished();
  await hearth.ask('loading first');
  await expect(hearth.answer).toContainText('The model is being loaded…');
  await hearth.finished();
  await hearth.ask('memory please');
  await expect(hearth.answer).toContainText('This needs more memory than is free. 3.2 GB needed, 1.0 GB free.');
  await hearth.answer.getByRole('button', { name: 'Try again' }).click();
  await expect(page.getByRole('group', { name: 'Version 2 of 2' })).toBeVisible();
});

test('the reader is not pulled along after scrolling up, and a pill leads back', async ({ hearth, page }) => {
  await hearth.ask('an endless tale');
  await expect
    .poll(() => hearth.thread.evaluate((place) => place.scrollHeight - place.clientHeight), { timeout: 30_000 })
    .toBeGreaterThan(300);
  expect(await hearth.bottomGap()).toBeLessThan(80);
  await hearth.thread.hover();
  await page.mouse.wheel(0, -150);
  await expect(page.getByRole('button', { name: 'Go to the newest text' })).toBeVisible();
  const top = await hearth.thread.evaluate((place) => place.scrollTop);
  await page.waitForTimeout(700);
  expect(await hearth.thread.evaluate((place) => place.scrollTop)).toBe(top);
  await page.getByRole('button', { name: 'Go to the newest text' }).click();
  await expect.poll(() => hearth.bottomGap()).toBeLessThan(80);
  await page.waitForTimeout(500);
  expect(await hearth.bottomGap()).toBeLessThan(80);
});
