// ui-07: a chat of 300 turns and 400 kB stays quick to open, to read and to type in while an answer streams.
import { expect, test } from './stub/fixture';

const WORDS = 'The wind went round the house and looked for a way in, and the lamp burned on. ';
const CODE = '```js\n' + 'export const answer = (question) => question.trim().length;\n'.repeat(8) + '```\n';

test('a long chat opens quickly, keeps its place and takes keys while it streams', async ({ hearth, page, stub }) => {
  const messages = Array.from({ length: 600 }, (_, index) =>
    index % 2 === 0
      ? { role: 'user' as const, text: `Question ${index / 2}: ${WORDS}` }
      : {
          role: 'assistant' as const,
          text: `${WORDS.repeat(index % 6 === 1 ? 6 : 14)}\n\n${index % 6 === 1 ? CODE : '- one\n- two\n'}`,
        },
  );
  stub.addChat('A very long chat', messages);
  await page.reload();
  await hearth.box.waitFor();
  const began = Date.now();
  await page.getByRole('link', { name: 'A very long chat' }).click();
  await expect(page.getByText('Question 299:')).toBeVisible();
  const opened = Date.now() - began;
  await expect.poll(() => hearth.bottomGap()).toBeLessThan(4);
  expect(await page.locator('.thread-row').count()).toBeLessThan(40);

  await page.evaluate(() => {
    const store = window as unknown as { keys: number[]; frames: number[] };
    store.keys = [];
    store.frames = [];
    new PerformanceObserver((list) => {
      for (const entry of list.getEntries()) if (entry.name === 'keydown') store.keys.push(entry.duration);
    }).observe({ type: 'event', durationThreshold: 16 } as PerformanceObserverInit);
    let last = performance.now();
    const frame = (now: number): void => {
      store.frames.push(now - last);
      last = now;
      requestAnimationFrame(frame);
    };
    requestAnimationFrame(frame);
  });
  await hearth.ask('an endless tale');
  for (let i = 0; i < 60; i++) {
    await hearth.box.pressSequentially('a');
    await page.waitForTimeout(100);
  }
  const { keys, frames } = await page.evaluate(() => {
    const store = window as unknown as { keys: number[]; frames: number[] };
    return { keys: store.keys, frames: store.frames };
  });
  const at = (values: number[], share: number): number =>
    values.sort((a, b) => a - b)[Math.floor(values.length * share)] ?? 0;
  console.log(
    `opened in ${opened} ms; key p50 ${at(keys, 0.5)} p95 ${at(keys, 0.95)} ms; frame p95 ${Math.round(at(frames, 0.95))} max ${Math.round(at(frames, 0.9999))} ms`,
  );

  // Scrolled up, the place stays while text arrives below.
  await hearth.thread.hover();
  await page.mouse.wheel(0, -3000);
  await page.waitForTimeout(500);
  const place = await hearth.thread.evaluate((element) => element.scrollTop);
  await page.waitForTimeout(1000);
  expect(await hearth.thread.evaluate((element) => element.scrollTop)).toBe(place);
  // The targets are for a quiet machine (1 s, 50 ms); these bounds catch a page that draws everything again.
  expect(opened).toBeLessThan(3000);
  expect(at(keys, 0.95)).toBeLessThan(400);
});
