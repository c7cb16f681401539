// The list of chats and the box: nothing is lost by accident (ui-09), nothing is sent by itself (ui-12).
import { expect, test } from './stub/fixture';

test('a deleted chat comes back whole within ten seconds', async ({ hearth, page }) => {
  await hearth.ask('hello');
  await hearth.finished();
  await page.getByRole('button', { name: 'Actions for hello' }).click();
  await page.getByRole('menuitem', { name: 'Delete' }).click();
  await expect(page.getByRole('link', { name: 'hello', exact: true })).toHaveCount(0);
  await page.waitForTimeout(6000);
  await page.getByRole('button', { name: 'Undo' }).click();
  await expect(page.getByRole('link', { name: 'hello', exact: true })).toBeVisible();
  await expect(page.getByRole('article', { name: 'You' })).toContainText('hello');
  await expect(hearth.answer).toContainText('did not find one.');
});

test('Backspace and Delete outside the box do nothing', async ({ hearth, page, stub }) => {
  await hearth.ask('hello');
  await hearth.finished();
  const before = page.url();
  await hearth.thread.focus();
  for (const key of ['Backspace', 'Delete', 'Backspace']) await page.keyboard.press(key);
  await page.getByRole('link', { name: 'hello', exact: true }).focus();
  for (const key of ['Backspace', 'Delete']) await page.keyboard.press(key);
  expect(page.url()).toBe(before);
  await expect(page.getByRole('article', { name: 'You' })).toBeVisible();
  expect([...stub.chats.values()].every((chat) => chat.deletedAt === null)).toBe(true);
});

test('a chat is renamed from its menu and from its title', async ({ hearth, page }) => {
  await hearth.ask('hello');
  await hearth.finished();
  await page.getByRole('button', { name: 'Actions for hello' }).click();
  await page.getByRole('menuitem', { name: 'Rename' }).click();
  await page.getByRole('textbox', { name: 'Name of this chat' }).fill('The lamp');
  await page.keyboard.press('Enter');
  await expect(page.getByRole('heading', { name: 'The lamp' })).toBeVisible();
  await page.getByRole('heading', { name: 'The lamp' }).getByRole('button').click();
  await page.getByRole('textbox', { name: 'Name of this chat' }).fill('unwanted');
  await page.keyboard.press('Escape');
  await expect(page.getByRole('link', { name: 'The lamp' })).toBeVisible();
});

test('the search finds words within chats', async ({ hearth, page, stub }) => {
  stub.addChat('Bread', [{ role: 'user', text: 'Why does sourdough rise?' }]);
  stub.addChat('Boats', [{ role: 'user', text: 'Which knot holds?' }]);
  await page.reload();
  // Keys that come before the page are lost, and then nothing is searched.
  await expect(page.getByRole('link', { name: 'Boats' })).toBeVisible();
  await page.keyboard.press('Control+k');
  await page.keyboard.type('sourdough');
  await expect(page.getByRole('link', { name: 'Bread' })).toBeVisible();
  await expect(page.getByRole('link', { name: 'Boats' })).toHaveCount(0);
  await page.keyboard.type('zzz');
  await expect(page.getByText('No chat mentions “sourdoughzzz”.')).toBeVisible();
  await page.keyboard.press('Escape');
  await expect(page.getByRole('link', { name: 'Boats' })).toBeVisible();
  await expect(hearth.box).toBeVisible();
});

test('a draft is kept per chat, across a reload', async ({ hearth, page }) => {
  await hearth.ask('hello');
  await hearth.finished();
  await hearth.box.fill('half a thought');
  await page.getByRole('link', { name: 'New chat' }).click();
  await expect(hearth.box).toHaveValue('');
  await hearth.box.fill('another one');
  await page.reload();
  await expect(hearth.box).toHaveValue('another one');
  await page.getByRole('link', { name: 'hello', exact: true }).click();
  await expect(hearth.box).toHaveValue('half a thought');
});

test('Enter sends, Shift+Enter breaks the line, Up brings the last message back', async ({ hearth, page }) => {
  await hearth.box.fill('one');
  await hearth.box.press('Shift+Enter');
  await hearth.box.pressSequentially('two');
  await expect(hearth.box).toHaveValue('one\ntwo');
  await hearth.box.press('Enter');
  await expect(page.getByRole('article', { name: 'You' })).toContainText('two');
  await hearth.finished();
  await hearth.box.press('ArrowUp');
  await expect(hearth.box).toHaveValue('one\ntwo');
});

test('the text of a link stands in the box and is never sent by itself', async ({ page, stub }) => {
  await page.goto(stub.entry.replace('/#', '/?q=Delete+all+files#'));
  const box = page.getByRole('textbox', { name: 'Your message' });
  await expect(box).toHaveValue('Delete all files');
  await page.waitForTimeout(500);
  expect(stub.chats.size).toBe(0);
  expect(page.url()).not.toMatch(/token|Delete/);
});

test('a suggestion is one press away from an answer', async ({ hearth, page }) => {
  await page.getByRole('button', { name: /rainbow/ }).click();
  await hearth.finished();
  await expect(page.getByRole('article', { name: 'You' })).toContainText('rainbow');
});
