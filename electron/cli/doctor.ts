// `hearth doctor`: what is there, what is not, and what to do about it, in words. It changes nothing.
import { createServer } from 'node:net';
import { accessSync, constants, existsSync } from 'node:fs';
import { dirname } from 'node:path';
import { DEFAULT_PORT, runningServer, type Engine, type LibraryModel } from '../app';
import { ERRORS, HearthError } from '../contract/errors';
import type { ServerFile } from '../contract/own';
import { withEngine } from './engine';
import { bytes, json, sentence, type Io } from './report';

export interface DoctorOptions {
  json?: boolean;
  dataDir?: string;
}

export interface Finding {
  subject: string;
  ok: boolean;
  text: string;
}

/** Gives the exit code: 1 where something must be mended before Hearth can work. */
export async function doctor(options: DoctorOptions, io: Io): Promise<number> {
  const server = await runningServer(options.dataDir);
  const findings = await withEngine({ dataDir: options.dataDir }, async (engine) => [
    program(engine),
    dataDirectory(engine.dir.root),
    await address(server),
    ...(await machine(engine)),
    ...(await models(engine)),
    ...(await engineCheck(engine)),
  ]);
  if (options.json) json(io, { findings });
  else for (const { subject, ok, text } of findings) io.out(`${ok ? ' ok ' : '  ! '} ${subject}: ${text}\n`);
  const mustMend = new Set(['Engine', 'Data directory']);
  return findings.some(({ ok, subject }) => !ok && mustMend.has(subject)) ? 1 : 0;
}

function program({ shipped }: Engine): Finding {
  const page = shipped.page ? '' : ' The page is not built: run `npm start`.';
  return {
    subject: 'Hearth',
    ok: Boolean(shipped.page),
    text: `${shipped.version}, Node ${process.versions.node}, ${process.platform}-${process.arch}.${page}`,
  };
}

function dataDirectory(root: string): Finding {
  let nearest = root;
  while (!existsSync(nearest) && dirname(nearest) !== nearest) nearest = dirname(nearest);
  try {
    accessSync(nearest, constants.W_OK);
    const state = nearest === root ? '' : ' (will be created)';
    return { subject: 'Data directory', ok: true, text: `${root}${state}` };
  } catch {
    return { subject: 'Data directory', ok: false, text: `${root} cannot be written. Choose another with --data-dir.` };
  }
}

async function address(server: ServerFile | undefined): Promise<Finding> {
  if (server) {
    return {
      subject: 'Address',
      ok: true,
      text: `Hearth ${server.version} runs at ${server.url} (process ${server.pid}).`,
    };
  }
  const free = await isFree(DEFAULT_PORT);
  const taken = `Port ${DEFAULT_PORT} is taken by another program; the next free one will do.`;
  const text = free ? `Port ${DEFAULT_PORT} is free.` : taken;
  return { subject: 'Address', ok: true, text };
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = createServer();
    socket.once('error', () => resolve(false));
    socket.listen({ host: '127.0.0.1', port }, () => socket.close(() => resolve(true)));
  });
}

/** Devices as the engine itself sees them. */
async function machine({ supervisor }: Engine): Promise<Finding[]> {
  try {
    const { devices, notes } = await supervisor.probe.devices();
    const found = devices.map((device) => ({
      subject: device.kind === 'gpu' ? 'Graphics' : 'Processor',
      ok: true,
      text: [
        device.name,
        device.graphics ? `${device.graphics.type}, ${device.graphics.driver}` : `${device.cores} cores`,
        `${bytes(device.memoryFree)} of ${bytes(device.memoryTotal)} free`,
        device.features.join(' ') || 'no extensions',
      ].join(', '),
    }));
    return [...found, ...notes.map((text) => ({ subject: 'Note', ok: true, text }))];
  } catch (error) {
    return [engineFailure(error)];
  }
}

/** Loads the smallest model: the only honest way to say which kernels work here. */
async function engineCheck({ supervisor, library }: Engine): Promise<Finding[]> {
  const usable = library.list().filter(({ error }) => !error);
  const smallest = usable.sort((one, two) => one.fileBytes - two.fileBytes)[0];
  if (!smallest) return [];
  try {
    const { engineBuild, kernels, loadMs } = await supervisor.load(smallest);
    const text = `${engineBuild}, kernels ${kernels}; loaded ${smallest.name} in ${Math.round(loadMs)} ms`;
    return [{ subject: 'Engine', ok: true, text }];
  } catch (error) {
    return [engineFailure(error)];
  }
}

function engineFailure(error: unknown): Finding {
  const { message, remedy } = HearthError.from(error);
  return { subject: 'Engine', ok: false, text: `${sentence(message)} ${remedy}` };
}

async function models({ library }: Engine): Promise<Finding[]> {
  await library.refresh();
  await library.identified();
  const found = library.list().map(model);
  const none = { subject: 'Models', ok: false, text: 'There is none. Put a .gguf file into the models folder.' };
  return found.length > 0 ? found : [none];
}

function model({ name, error, info, fileBytes }: LibraryModel): Finding {
  if (error)
    return { subject: `Model ${name}`, ok: false, text: `${sentence(error.message)} ${ERRORS[error.code].remedy}` };
  const what = info ? `${info.architecture}, ${info.quantization}, context ${info.context}, ` : '';
  return { subject: `Model ${name}`, ok: true, text: `${what}${bytes(fileBytes)}` };
}
