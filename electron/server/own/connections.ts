// What ever left this machine, for whoever wants to see it.
import type { FastifyInstance } from 'fastify';
import { ROUTES } from '../../contract/routes';
import type { Fetching } from '../types';

export function connectionRoutes(app: FastifyInstance, { ledger }: Fetching): void {
  app.get(ROUTES.connections, () => ({ connections: ledger.list() }));
}
