// `hearth check`: whether a model answers as it did before, how near its fast path is to the exact one, and how fast it is here. In the
// running Hearth where there is one, else in this process; the row is kept in the matrix either way.
import { setTimeout as pause } from 'node:timers/promises';
import { openChecker, runningServer } from '../app';
import { HearthError, errorShape } from '../contract/errors';
import { matrixCheck, matrixReply, type CheckPhase, type MatrixCheck, type MatrixRow } from '../contract/models';
import type { ServerFile } from '../contract/own';
import { ROUTES } from '../contract/routes';
import { modelRef, showLoading } from './engine';
import { bytes, json, sentence, table, type Io } from './report';

export interface CheckOptions {
  accept?: boolean;
  json?: boolean;
  kv?: 'f16' | 'q8';
  threads?: number;
  dataDir?: string;
}

/** Exit code: 0 where the model answers as expected and nothing got worse. */
export async function check(
  model: string,
  options: CheckOptions,
  io: Io,
  running: () => Promise<ServerFile | undefined> = () => runningServer(options.dataDir),
): Promise<number> {
  const server = await running();
  if (server && (options.kv !== undefined || options.threads !== undefined))
    throw new HearthError(
      'invalid_request',
      '--kv and --threads need that no Hearth is running: it has loaded models its own way.',
    );
  const ended = server ? await checkThere(server, model, options, io) : await checkHere(model, options, io);
  if (ended.error) throw HearthError.from(ended.error);
  if (options.json) json(io, ended);
  else io.out(words(ended));
  return ended.row?.selfCheck === 'passed' && ended.row.regressions.length === 0 ? 0 : 1;
}

async function checkHere(
  model: string,
  { accept = false, kv, threads, dataDir }: CheckOptions,
  io: Io,
): Promise<MatrixCheck> {
  const checker = await openChecker({ dataDir, load: { kvType: kv, threads } });
  const stop = showLoading(checker, io);
  try {
    return await checker.matrix.check(await modelRef(checker, model), accept).done;
  } finally {
    stop();
    await checker.close();
  }
}

const POLL_MS = 500;

async function checkThere(
  server: ServerFile,
  model: string,
  { accept = false }: CheckOptions,
  io: Io,
): Promise<MatrixCheck> {
  const begun = matrixCheck.parse(await ask(server, ROUTES.matrixCheck, { model, accept }));
  for (let phase: CheckPhase | undefined; ; await pause(POLL_MS)) {
    const { checks } = matrixReply.parse(await ask(server, ROUTES.matrix));
    const now = checks.find((one) => one.model === begun.model);
    if (!now) throw new HearthError('internal', 'The running Hearth has forgotten the check.');
    if (now.state !== 'running') return now;
    if (io.terminal && now.phase !== phase) io.err(`${PHASES[now.phase]}\n`);
    phase = now.phase;
  }
}

async function ask(server: ServerFile, path: string, body?: object): Promise<unknown> {
  const response = await fetch(new URL(path, server.url), {
    method: body ? 'POST' : 'GET',
    headers: { authorization: `Bearer ${server.token}`, ...(body && { 'content-type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  });
  const answer: unknown = await response.json();
  if (response.ok) return answer;
  throw HearthError.from(
    errorShape
      .catch({ code: 'internal', message: `Status ${response.status}.` })
      .parse((answer as { error?: unknown }).error),
  );
}

const PHASES: Record<CheckPhase, string> = {
  waiting: 'Waiting for another check.',
  loading: 'Loading the model.',
  tokens: 'Asking the fixed prompts.',
  exact: 'Comparing with the exact path.',
  speed: 'Measuring.',
};

const SELF_CHECK: Record<MatrixRow['selfCheck'], string> = {
  passed: 'the fixed prompts give the expected tokens',
  changed: 'the fixed prompts give other tokens than those that were recorded; --accept takes the new ones',
  failed: 'the same prompt gives different tokens alone and in company: do not trust this model on this device',
  none: 'not checked',
};

/** The outcome for a person. */
export function words({ row, recorded, exactError }: MatrixCheck): string {
  if (!row) return 'There is no result.\n';
  const told = recorded
    ? 'the first check of this model here: its tokens are recorded for the next one'
    : SELF_CHECK[row.selfCheck];
  const kl =
    row.kl === undefined
      ? sentence(exactError?.message ?? 'not compared')
      : `KL ${row.kl.toExponential(2)} on fixed text`;
  const rows = [
    ['Model', `${row.model} (${row.modelId.slice(0, 12)})`],
    ['Engine', `${row.engineBuild}, ${row.device}, KV ${row.kvType}`],
    ['Tokens', `${row.selfCheck}: ${told}`],
    ['Exact', kl],
    [
      'Speed',
      `reads ${rate(row.prefillTps)}, writes ${rate(row.decodeTps)}, first token after ${Math.round(row.ttftMs ?? 0)} ms`,
    ],
    ['Memory', row.memoryBytes === undefined ? '-' : `${bytes(row.memoryBytes)} besides the mapped weights`],
    ...(row.regressions.length > 0 ? [['Worse', `${row.regressions.join(', ')}, against the last good row`]] : []),
  ];
  return table(rows);
}

const rate = (value: number | undefined) => `${(value ?? 0).toFixed(1)} t/s`;
