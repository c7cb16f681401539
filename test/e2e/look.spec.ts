// Language, light, accessibility and keyboard: the page is for everybody.
import { violations } from './stub/axe';
import { expect, test } from './stub/fixture';

for (const theme of ['light', 'dark'] as const) {
  test(`axe finds nothing, ${theme}`, async ({ hearth, page }) => {
    await page.emulateMedia({ colorScheme: theme, reducedMotion: 'reduce' });
    await expect(page.locator('html')).toHaveAttribute('data-theme', theme);
    expect(await violations(page)).toEqual([]);
    await hearth.ask('show me something rich');
    await hearth.finished();
    await page.getByRole('button', { name: /Thought for/ }).click();
    await page.getByRole('button', { name: 'How it answers' }).click();
    await page.locator('.code span[style*="keyword"]').first().waitFor({ state: 'attached' });
    expect(await violations(page)).toEqual([]);
    await hearth.ask('memory please');
    await hearth.finished();
    await page.getByRole('button', { name: /^Model:/ }).click();
    await expect(page.getByRole('listbox')).toBeVisible();
    expect(await violations(page)).toEqual([]);
    await page.keyboard.press('Escape');
    for (const name of ['Models', 'Server', 'Settings']) {
      await page.getByRole('link', { name, exact: true }).first().click();
      await expect(page.getByRole('heading', { name, exact: true })).toBeVisible();
      expect(await violations(page)).toEqual([]);
    }
  });
}

test('language and light follow the settings at once, and stay', async ({ page, hearth }) => {
  await expect(hearth.box).toBeVisible();
  await page.getByRole('link', { name: 'Settings' }).click();
  await page.getByText('简体中文').click();
  await expect(page.getByRole('heading', { name: '设置' })).toBeVisible();
  await page.getByText('深色', { exact: true }).click();
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
  await page.reload();
  await expect(page.getByRole('heading', { name: '设置' })).toBeVisible();
  await expect(page.locator('html')).toHaveAttribute('lang', 'zh-CN');
  await expect(page.locator('html')).toHaveAttribute('data-theme', 'dark');
});

test.describe('in a Chinese browser', () => {
  test.use({ locale: 'zh-CN' });
  test('the page speaks Chinese by itself', async ({ hearth, page }) => {
    await expect(page.getByRole('link', { name: '新对话' })).toBeVisible();
    await hearth.box.fill('hello');
    await hearth.box.press('Enter');
    await expect(page.getByRole('article', { name: '回答' })).toContainText('已完成', { timeout: 20_000 });
  });
});

test('everything can be reached and done by keyboard', async ({ hearth, page }) => {
  await page.keyboard.type('hello');
  await page.keyboard.press('Enter');
  await hearth.finished();
  await page.keyboard.press('Control+Alt+b');
  const slider = page.getByRole('slider', { name: 'Creativity' });
  await slider.focus();
  await page.keyboard.press('ArrowRight');
  await expect(page.getByText('Takes more surprising turns.')).toBeVisible();
  expect([...hearth.stub.chats.values()][0]?.settings.creativity).toBe('imaginative');
  await page.keyboard.press('Control+,');
  await expect(page.getByRole('heading', { name: 'Settings' })).toBeVisible();
});

test('a model is picked by typing, and its load is told', async ({ hearth, page }) => {
  await page.getByRole('button', { name: /^Model:/ }).click();
  await page.keyboard.type('smol');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('button', { name: /^Model: smollm2/ })).toContainText(/reading the model/);
  await expect(page.getByRole('button', { name: /^Model: smollm2/ })).toContainText('Processor');
  // It does not think, so nothing about thinking is offered.
  await expect(page.getByRole('button', { name: /Thinking/ })).toHaveCount(0);
  await page.getByRole('button', { name: /^Model:/ }).click();
  await expect(page.getByRole('option', { name: /half-a-download/ })).toContainText('damaged');
  await expect(hearth.box).toBeAttached();
});

test('nothing spills over on a small screen', async ({ hearth, page }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await hearth.ask('show me something rich');
  await hearth.finished();
  for (const place of ['#/chat', '#/models', '#/server', '#/settings']) {
    await page.evaluate((hash) => (location.hash = hash), place);
    await page.waitForTimeout(200);
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(390);
  }
});

test('panels on a small screen do not cover each other, and Escape closes the chats', async ({ page, hearth }) => {
  await page.setViewportSize({ width: 390, height: 844 });
  await expect(hearth.box).toBeVisible();
  const inspector = page.getByRole('heading', { name: 'How it answers' });
  await page.getByRole('button', { name: 'How it answers' }).click();
  await expect(inspector).toBeVisible();
  await page.getByRole('button', { name: 'Show chats' }).click();
  await expect(inspector).toBeHidden();
  const search = page.getByLabel('Search chats');
  await expect(search).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(search).toBeHidden();
});
