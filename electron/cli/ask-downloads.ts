// Downloads of the Hearth that is running already, through its own API.
import { z } from 'zod';
import { HearthError, errorShape } from '../contract/errors';
import { download, hubModel, type Download, type DownloadRequest, type HubModel } from '../contract/models';
import type { ServerFile } from '../contract/own';
import { ROUTES } from '../contract/routes';
import type { PeerImportRequest } from '../contract/sharing';
import type { Fetcher } from './pull';

const failure = z.object({ error: errorShape });

export class ServerFetcher implements Fetcher {
  constructor(private readonly server: ServerFile) {}

  async repository(repo: string): Promise<HubModel> {
    return hubModel.parse(await this.ask('GET', `${ROUTES.discoverRepo}?repo=${encodeURIComponent(repo)}`));
  }

  async start(request: DownloadRequest): Promise<Download> {
    return download.parse(await this.ask('POST', ROUTES.downloads, request));
  }

  async importFrom(request: PeerImportRequest): Promise<Download> {
    return download.parse(await this.ask('POST', ROUTES.peerImport, request));
  }

  async look(id: string): Promise<Download> {
    const { downloads } = z.object({ downloads: z.array(download) }).parse(await this.ask('GET', ROUTES.downloads));
    const found = downloads.find((one) => one.id === id);
    if (!found) throw new HearthError('cancelled', 'The download was called off in the running Hearth.');
    return found;
  }

  async pause(id: string): Promise<void> {
    await this.ask('POST', ROUTES.downloadPause.replace(':id', id));
  }

  async close(): Promise<void> {
    // The Hearth goes on without us.
  }

  private async ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(new URL(path, this.server.url), {
      method,
      headers: {
        authorization: `Bearer ${this.server.token}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    });
    const answer: unknown = await response.json();
    if (response.ok) return answer;
    const told = failure.safeParse(answer);
    if (told.success) throw HearthError.from(told.data.error);
    throw new HearthError('internal', `The running Hearth answered with status ${response.status}.`);
  }
}
