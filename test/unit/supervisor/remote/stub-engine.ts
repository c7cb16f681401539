// Scripted engines for one test each: they end with it.
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';
import { openStub, type Respond, type StubEngine } from './scripted-engine';

export * from './scripted-engine';

export async function startStub(respond?: Respond): Promise<StubEngine> {
  const stub = await openStub(respond);
  onTestFinished(() => stub.close());
  return stub;
}

/** A server below HTTP: says whatever it likes, for as long as it likes. */
export async function startRaw(onConnection: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>();
  const server = createTcpServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined);
    socket.on('close', () => sockets.delete(socket));
    onConnection(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => server.close(resolve));
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
}
