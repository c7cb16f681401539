// Real Hearths for one test each, with the model that ships, and questions to them.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { startApp, type App } from '../../electron/app';
import { modelPath } from './engine-model';

export type HearthHere = App & { folder: string };

export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'hearth-test-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
  return folder;
}

export async function hearth(): Promise<HearthHere> {
  const folder = newFolder();
  const app = await startApp({ dataDir: folder, port: 0, model: modelPath, diskCache: false });
  onTestFinished(() => app.close());
  return { ...app, folder };
}

export async function ask(
  app: App,
  method: string,
  path: string,
  body?: object,
  // eslint-disable-next-line @typescript-eslint/no-explicit-any
): Promise<{ status: number; headers: Headers; body: any }> {
  const response = await fetch(new URL(path, app.url), {
    method,
    headers: { authorization: `Bearer ${app.token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  return { status: response.status, headers: response.headers, body: text === '' ? undefined : JSON.parse(text) };
}
