// A page on a fresh stub for each test, and the few things that every test does with it.
import { test as base, type Locator, type Page } from '@playwright/test';
import { startStub, type Stub } from './server';

export class HearthPage {
  constructor(
    readonly page: Page,
    readonly stub: Stub,
  ) {}

  async open(): Promise<void> {
    await this.page.goto(this.stub.entry);
    await this.box.waitFor();
  }

  get box(): Locator {
    return this.page.getByRole('textbox', { name: /^(Your message|你的消息)$/ });
  }

  get answer(): Locator {
    return this.page.getByRole('article', { name: 'Answer' }).last();
  }

  get thread(): Locator {
    return this.page.getByRole('region', { name: 'Conversation', exact: true });
  }

  async ask(text: string): Promise<void> {
    await this.box.fill(text);
    await this.box.press('Enter');
    await this.answer.waitFor();
  }

  /** Waits for the end of the answer being written. */
  async finished(): Promise<void> {
    await this.page.locator('article[aria-busy="false"]').last().waitFor();
    await this.page.locator('article[aria-busy="true"]').waitFor({ state: 'detached' });
  }

  bottomGap(): Promise<number> {
    return this.thread.evaluate((place) => place.scrollHeight - place.scrollTop - place.clientHeight);
  }
}

export const test = base.extend<{ stub: Stub; hearth: HearthPage }>({
  stub: async ({}, use) => {
    const stub = await startStub();
    await use(stub);
    await stub.close();
  },
  hearth: async ({ page, stub }, use) => {
    const broken: string[] = [];
    page.on('pageerror', (error) => broken.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) broken.push(message.text());
    });
    const hearth = new HearthPage(page, stub);
    await hearth.open();
    await use(hearth);
    base.expect(broken).toEqual([]);
  },
});

export { expect } from '@playwright/test';
