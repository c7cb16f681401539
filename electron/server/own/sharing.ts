// Whether other Hearths may copy models of this one, and what they need for it.
import type { FastifyInstance } from 'fastify';
import { ROUTES } from '../../contract/routes';
import { shareRequest, type Sharing } from '../../contract/sharing';
import type { SharedThings } from '../types';
import { parse } from '../validate';

export function sharingRoutes(
  app: FastifyInstance,
  { key }: SharedThings,
  { urls, changed }: { urls(): string[]; changed(): Promise<void> },
): void {
  const now = (): Sharing => ({ on: key.on, urls: urls(), ...(key.key !== undefined && { key: key.key }) });
  app.get(ROUTES.sharing, now);
  app.post(ROUTES.sharing, async (request) => {
    await key.switch(parse(shareRequest, request.body).on);
    await changed();
    return now();
  });
}
