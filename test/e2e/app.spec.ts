// Against the real app, where HEARTH_E2E_URL and HEARTH_E2E_TOKEN say where it is: a question is typed and answered in streamed tokens.
import { expect, test } from '@playwright/test';

const url = process.env.HEARTH_E2E_URL;
const token = process.env.HEARTH_E2E_TOKEN;

test.describe('the real app', () => {
  test.skip(!url || !token, 'HEARTH_E2E_URL and HEARTH_E2E_TOKEN are not set');
  test.setTimeout(180_000);

  test('answers a question in streamed tokens', async ({ page }) => {
    const broken: string[] = [];
    page.on('pageerror', (error) => broken.push(String(error)));
    await page.goto(`${(url ?? '').replace(/\/$/, '')}/#token=${encodeURIComponent(token ?? '')}`);
    const box = page.getByRole('textbox', { name: 'Your message' });
    await expect(box).toBeVisible();
    expect(page.url()).not.toContain('token');
    await box.fill(process.env.HEARTH_E2E_QUESTION ?? 'What is Hearth?');
    await box.press('Enter');
    const answer = page.getByRole('article', { name: 'Answer' });
    await answer.waitFor();
    const lengths = new Set<number>();
    const text = answer.locator('.md');
    await expect(text).toBeVisible({ timeout: 120_000 });
    while ((await answer.getAttribute('aria-busy')) === 'true') {
      lengths.add((await text.innerText()).length);
      await page.waitForTimeout(30);
    }
    lengths.add((await text.innerText()).length);
    const shot = process.env.HEARTH_E2E_SHOT ?? test.info().outputPath('answer.png');
    await page.screenshot({ path: shot });
    console.log(`screenshot: ${shot}\nanswer: ${(await text.innerText()).slice(0, 400)}`);
    expect([...lengths].length).toBeGreaterThan(1);
    await expect(answer).toContainText(/tokens\/s/);
    const whole = await text.innerText();
    expect(whole).not.toMatch(/<\||assistantfinal|to=functions\./);
    await page.reload();
    await expect(page.getByRole('article', { name: 'Answer' }).locator('.md')).toHaveText(/\S/);
    expect(await page.getByRole('article', { name: 'Answer' }).locator('.md').innerText()).toBe(whole);
    expect(broken).toEqual([]);
  });
});
