// How the stub answers: JSON, or an error of the contract.
import type { ServerResponse } from 'node:http';

export function reply(response: ServerResponse, status: number, body: unknown): void {
  response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body));
}

export function fail(response: ServerResponse, status: number, code: string): void {
  reply(response, status, { error: { code, message: `stub: ${code}` } });
}
