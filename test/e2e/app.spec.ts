// Against the real app, where HEARTH_E2E_URL and HEARTH_E2E_TOKEN say where it is: a question is typed and answered in streamed tokens.
import { expect, test } from '@playwright/test';

const url = process.env.HEARTH_E2E_URL;
const token = process.env.HEARTH_E2E_TOKEN;

test.describe('the real app', () => {
  test.skip(!url || !token, 'HEARTH_E2E_URL and HEARTH_E2E_TOKEN are not set');
  test.setTimeout(180_000);

  test('answers a question in streamed tokens', async ({ page, request }) => {
    const broken: string[] = [];
    page.on('pageerror', (error) => broken.push(String(error)));
    await page.goto(`${(url ?? '').replace(/\/$/, '')}/#token=${encodeURIComponent(token ?? '')}`);
    const box = page.getByRole('textbox', { name: 'Your message' });
    await expect(box).toBeVisible();
    expect(page.url()).not.toContain('token');
    await box.fill(process.env.HEARTH_E2E_QUESTION ?? 'What is Hearth?');
    const begun = page.waitForResponse((response) => /\/chats\/[^/]+\/turns$/.test(response.url()));
    await box.press('Enter');
    const { turn } = (await (await begun).json()) as { turn: string };
    const answer = page.getByRole('article', { name: 'Answer' });
    const text = answer.locator('.md');
    await expect(text).toHaveText(/\S/, { timeout: 120_000 });
    await expect(answer).toHaveAttribute('aria-busy', 'false', { timeout: 120_000 });
    const shot = process.env.HEARTH_E2E_SHOT ?? test.info().outputPath('answer.png');
    await page.screenshot({ path: shot });
    console.log(`screenshot: ${shot}\nanswer: ${(await text.innerText()).slice(0, 400)}`);
    // A quick answer may come within one frame; the turn's log tells in how many pieces it was streamed.
    const log = await request.get(`${url}/hearth/v1/turns/${turn}/events`, {
      headers: { authorization: `Bearer ${token}` },
    });
    expect((await log.text()).match(/"kind":"(?:reasoning|text)"/g)?.length).toBeGreaterThan(1);
    await expect(answer).toContainText(/tokens\/s/);
    const whole = await text.innerText();
    expect(whole).not.toMatch(/<\||assistantfinal|to=functions\./);
    await page.reload();
    await expect(page.getByRole('article', { name: 'Answer' }).locator('.md')).toHaveText(/\S/);
    expect(await page.getByRole('article', { name: 'Answer' }).locator('.md').innerText()).toBe(whole);
    expect(broken).toEqual([]);
  });
});
