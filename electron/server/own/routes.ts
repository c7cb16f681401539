// The addresses under /hearth/v1, all behind the app's token: the guard asks for it where a route says nothing else.
import type { FastifyInstance } from 'fastify';
import type { ServerContext } from '../context';
import type { Turns } from '../turns/turns';
import { chatRoutes } from './chats';
import { connectionRoutes } from './connections';
import { discoverRoutes } from './discover';
import { downloadRoutes } from './downloads';
import { matrixRoutes } from './matrix';
import { folderRoutes } from './folders';
import { modelFileRoutes } from './model-files';
import { modelRoutes } from './models';
import { moveRoutes } from './moves';
import { remoteEngineRoutes } from './remote-engines';
import { settingsRoutes } from './settings';
import { stateRoutes } from './state';
import { turnRoutes } from './turns';

export function ownRoutes(app: FastifyInstance, context: ServerContext, turns: Turns): void {
  stateRoutes(app, context);
  modelRoutes(app, context);
  matrixRoutes(app, context);
  modelFileRoutes(app, context);
  folderRoutes(app, context);
  moveRoutes(app, context);
  remoteEngineRoutes(app, context);
  settingsRoutes(app, context);
  chatRoutes(app, context, turns);
  turnRoutes(app, turns);
  if (context.fetching) {
    discoverRoutes(app, context.fetching);
    downloadRoutes(app, context.fetching);
    connectionRoutes(app, context.fetching);
  }
}
