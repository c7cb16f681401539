// Settings, with the checks that a schema alone does not make.
import type { FastifyInstance } from 'fastify';
import { chatSettings, settingsPatch, type Settings } from '../../contract/own';
import { ROUTES } from '../../contract/routes';
import type { ServerContext } from '../context';
import { hubOrigin } from '../../library/network/addresses';
import { proxyOf } from '../../library/network/proxy';
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

/** A token as it stands in a header; nothing else can be one. */
const TOKEN = /^[\x21-\x7e]{1,500}$/;

function checkedToken(token: string): string {
  const text = token.trim();
  if (text !== '' && !TOKEN.test(text)) throw invalid('hubToken', 'hubToken: this is no token of a hub.');
  return text;
}

export function checkedPatch(body: unknown, now: Settings): { patch: Partial<Settings>; hubToken?: string } {
  const given = body as Record<string, unknown> | undefined;
  const parsed = parse(settingsPatch, body);
  // Defaults of fields that were not sent must not overwrite what is set.
  const { hubToken, ...sent } = Object.fromEntries(
    Object.entries(parsed).filter(([key]) => given?.[key] !== undefined),
  ) as Partial<Settings> & { hubToken?: string };
  if (sent.proxy !== undefined) proxyOf(sent.proxy);
  if (sent.hubMirror) hubOrigin(sent.hubMirror);
  return {
    patch: {
      ...sent,
      ...(sent.chat && { chat: chatSettings.parse({ ...now.chat, ...(given?.chat as object) }) }),
      ...(sent.allowedOrigins && { allowedOrigins: originsOf(sent.allowedOrigins) }),
    },
    ...(hubToken !== undefined && { hubToken: checkedToken(hubToken) }),
  };
}

export function settingsRoutes(app: FastifyInstance, context: ServerContext): void {
  const { fetching } = context;
  const shown = (settings: Settings): Settings => ({ ...settings, hubTokenSet: fetching?.token.isSet ?? false });
  app.get(ROUTES.settings, () => shown(context.settings()));
  app.patch(ROUTES.settings, async (request) => {
    const { patch, hubToken } = checkedPatch(request.body, context.settings());
    const settings = await context.patchSettings(patch);
    // It belongs to the hub that is asked from now on.
    if (hubToken === '') await fetching?.token.clear();
    else if (hubToken !== undefined) await fetching?.token.set(hubToken, fetching.hub(settings));
    return shown(settings);
  });
}
