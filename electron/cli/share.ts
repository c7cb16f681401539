// `hearth share`: lets other Hearths on the local network copy the models of the one that is running, and prints what they need.
import { ROUTES } from '../contract/routes';
import { sharing } from '../contract/sharing';
import { change, needServer } from './own-api';
import { json, type Io } from './report';

export interface ShareOptions {
  off?: boolean;
  json?: boolean;
  dataDir?: string;
}

export async function share(options: ShareOptions, io: Io): Promise<void> {
  const server = await needServer(options.dataDir);
  const { on, urls, key = '' } = await change(server, ROUTES.sharing, { on: options.off !== true }, sharing);
  if (options.json) return json(io, { on, urls, ...(on && { key }) });
  if (!on) return void io.out('Nothing is shared.\n');
  if (urls.length === 0) return void io.out('This computer is on no network now; its models are shared when it is.\n');
  io.out(`On the other computer:\n${urls.map((url) => `  hearth pull ${url}/MODEL --key ${key}\n`).join('')}`);
}
