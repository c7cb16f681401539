// The addresses of this computer on the local network: listened on only while models are shared, at the port of the loopback ones. Which
// requests are answered there is the guard's. Networks come and go, so it looks again from time to time.
import type { FastifyInstance } from 'fastify';
import { networkInterfaces } from 'node:os';
import { another, bind, end, type HttpServer } from './listen';

const LOOK_MS = 15_000;

/** Not the ones that need an interface's name beside them. */
export function networkAddresses(interfaces = networkInterfaces()): string[] {
  const all = Object.values(interfaces).flatMap((found) => found ?? []);
  const outside = all.filter(({ internal, family }) => !internal && family === 'IPv4');
  return [...new Set(outside.map(({ address }) => address))].filter((address) => !address.startsWith('169.254.'));
}

export class NetworkListener {
  private readonly servers = new Map<string, HttpServer>();
  private port = 0;
  private timer: NodeJS.Timeout | undefined;
  private turn: Promise<void> = Promise.resolve();

  constructor(private readonly warn: (text: string) => void) {}

  /** Listens at this port on every address that there is; 0: on none. */
  follow(app: FastifyInstance, port: number): Promise<void> {
    this.port = port;
    clearInterval(this.timer);
    this.timer = port === 0 ? undefined : setInterval(() => void this.look(app), LOOK_MS).unref();
    return this.look(app);
  }

  urls(): string[] {
    return [...this.servers.keys()].map((address) => `http://${address}:${this.port}`);
  }

  close(): Promise<void> {
    clearInterval(this.timer);
    this.port = 0;
    return this.after(() => this.leave([]));
  }

  private look(app: FastifyInstance): Promise<void> {
    return this.after(async () => {
      const wanted = this.port === 0 ? [] : networkAddresses();
      await this.leave(wanted);
      for (const address of wanted) if (!this.servers.has(address)) await this.open(app, address);
    });
  }

  /** One change after another. */
  private after(work: () => Promise<void>): Promise<void> {
    this.turn = this.turn.then(work);
    return this.turn;
  }

  private async open(app: FastifyInstance, address: string): Promise<void> {
    const server = another(app);
    try {
      await bind(server, address, this.port);
      this.servers.set(address, server);
    } catch (error) {
      this.warn(`models are not shared at ${address}:${this.port}: ${String(error)}`);
    }
  }

  private async leave(wanted: readonly string[]): Promise<void> {
    const gone = [...this.servers].filter(([address]) => !wanted.includes(address));
    for (const [address] of gone) this.servers.delete(address);
    await Promise.all(gone.map(([, server]) => end(server)));
  }
}
