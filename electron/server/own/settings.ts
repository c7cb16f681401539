// Settings, with the checks that a schema alone does not make.
import type { FastifyInstance } from 'fastify';
import { chatSettings, settingsPatch, type Settings } from '../../contract/own';
import { ROUTES } from '../../contract/routes';
import type { ServerContext } from '../context';
import { normalOrigin } from '../security/origins';
import { invalid, parse } from '../validate';

const MAX_ORIGINS = 50;

/** Origins as browsers write them; `*` and everything that is no origin is refused. */
function originsOf(origins: readonly string[]): string[] {
  if (origins.length > MAX_ORIGINS)
    throw invalid('allowedOrigins', `allowedOrigins: at most ${MAX_ORIGINS} are possible.`);
  const normal = origins.map((entry) => {
    const origin = normalOrigin(entry);
    if (origin === undefined)
      throw invalid(
        'allowedOrigins',
        `allowedOrigins: "${entry.slice(0, 100)}" is no origin such as http://localhost:5173.`,
      );
    return origin;
  });
  return [...new Set(normal)];
}

export function checkedPatch(body: unknown, now: Settings): Partial<Settings> {
  const given = body as Record<string, unknown> | undefined;
  const parsed = parse(settingsPatch, body) as Partial<Settings>;
  // Defaults of fields that were not sent must not overwrite what is set.
  const sent = Object.fromEntries(
    Object.entries(parsed).filter(([key]) => given?.[key] !== undefined),
  ) as Partial<Settings>;
  return {
    ...sent,
    ...(sent.chat && { chat: chatSettings.parse({ ...now.chat, ...(given?.chat as object) }) }),
    ...(sent.allowedOrigins && { allowedOrigins: originsOf(sent.allowedOrigins) }),
  };
}

export function settingsRoutes(app: FastifyInstance, context: ServerContext): void {
  app.get(ROUTES.settings, () => context.settings());
  app.patch(ROUTES.settings, (request) => context.patchSettings(checkedPatch(request.body, context.settings())));
}
