// The verbs of the `hearth` command, their options, and the exit code. What a verb does is in the file of its name.
import { Command, CommanderError, InvalidArgumentError, Option } from 'commander';
import { appVersion } from '../app';
import { bench } from './bench';
import { cacheClear } from './cache';
import { check } from './check';
import { devices } from './devices';
import { doctor } from './doctor';
import { load, ps, unload } from './load';
import { logits } from './logits';
import { ls } from './ls';
import { meshOf } from './mesh';
import { pull } from './pull';
import { processIo, report, type Io } from './report';
import { rm } from './rm';
import { run } from './run';
import { serve } from './serve';
import { share } from './share';

/** Gives the exit code, or undefined where the process goes on (`serve`). */
export async function main(argv: string[], io: Io = processIo): Promise<number | undefined> {
  let code: number | undefined = 0;
  const program = hearthCommand(io, (result) => (code = result));
  try {
    await program.parseAsync(argv, { from: 'user' });
    return code;
  } catch (error) {
    if (error instanceof CommanderError) return error.exitCode;
    return report(io, error, argv.includes('--json'));
  }
}

type Done = (code: number | undefined) => void;

function hearthCommand(io: Io, done: Done): Command {
  const program = new Command('hearth')
    .description('Run open language models on your own machine.')
    .version(appVersion(), '--version')
    .exitOverride()
    .configureOutput({ writeOut: (text) => io.out(text), writeErr: (text) => io.err(text) });
  addServe(program, io, done);
  addRun(program, io, done);
  addLogits(program, io);
  addBench(program, io);
  addCheck(program, io, done);
  addLs(program, io);
  addRm(program, io, done);
  addMemory(program, io, done);
  addPull(program, io, done);
  addShare(program, io);
  addDoctor(program, io, done);
  addDevices(program, io);
  addCache(program, io);
  return program;
}

function addServe(program: Command, io: Io, done: Done): void {
  verb(program, 'serve', 'Serve the page and the API on this machine.')
    .option('--port <n>', 'port to listen on; the next free one where it is taken (default: 4327)', port)
    .addOption(dataDir())
    .option('--model <model>', 'model to load at the start: a name or a path')
    .addOption(kvType())
    .option('--memory <gb>', 'most memory for all models together (default: what the machine has)', number(0.01, 1e6))
    .option('--no-disk-cache', 'keep nothing of what models have read on disk')
    .option('--json', 'first line of the output: {url, token, pid} as JSON; everything else goes to standard error')
    .action(async (options) => done(await serve(options, io)));
}

const RUN =
  'Ask one question. With a running Hearth and a name it is asked there; a path, --json and --exact run here.';

function addRun(program: Command, io: Io, done: Done): void {
  verb(program, 'run', RUN)
    .argument('<model>', 'name or path')
    .argument('<prompt>')
    .option('--temperature <t>', "0: the most likely words (default: the model's own)", number(0, 5))
    .option('--max-tokens <n>', 'most tokens, thoughts included', count)
    .addOption(choice('--effort <effort>', 'how long it thinks', ['low', 'medium', 'high']).default('medium'))
    .option('--seed <n>', 'the same seed gives the same answer', whole)
    .option('--system <text>', 'instructions')
    .option('--threads <n>', 'threads of the processor', count)
    .addOption(kvType())
    .addOption(onDevice('cpu, or an id of `hearth devices` (default: as the settings say); runs in this process'))
    .addOption(onMesh())
    .option('--exact', 'compute in 32-bit floats')
    .option('--json', 'one JSON object: text, reasoning, tokens, finish_reason, usage, timings')
    .addOption(dataDir())
    .action(async (model: string, prompt: string, options) => {
      done(await run(model, prompt, options, io, interrupt()));
    });
}

function addLogits(program: Command, io: Io): void {
  verb(program, 'logits', "The last position's logits as a JSON array. Always runs in this process.")
    .argument('<model>', 'name or path')
    .requiredOption('--tokens <file>', 'JSON array of token ids')
    .option('--exact', 'compute in 32-bit floats')
    .addOption(onDevice('cpu, reference, or an id of `hearth devices` (default: cpu)', ['cpu', 'reference']))
    .addOption(onMesh())
    .option('--threads <n>', 'threads of the processor', count)
    .addOption(kvType())
    .option('--prefill-chunk <n>', 'most tokens read in one step', count)
    .option('--yarn-truncate', 'round the YaRN correction range, as ggml does')
    .addOption(dataDir())
    .action((model: string, options) => logits(model, options, io));
}

function addBench(program: Command, io: Io): void {
  verb(program, 'bench', 'Measure a model on this machine. Always runs in this process.')
    .argument('<model>', 'name or path')
    .option('--prefill <n,…>', 'tokens to read before it writes; several lengths are measured in turn', counts, [512])
    .option('--decode <n>', 'tokens to write', count, 64)
    .option('--sequences <n,…>', 'how many at the same time', counts, [1])
    .option('--repeat <n>', 'measurements of each, for the median', count, 3)
    .option('--threads <n>', 'threads of the processor', count)
    .addOption(kvType())
    .addOption(onDevice('cpu, or an id of `hearth devices` (default: as the settings say)'))
    .addOption(onMesh())
    .option('--exact', 'compute in 32-bit floats')
    .option('--json', 'one JSON object')
    .addOption(dataDir())
    .action((model: string, options) => bench(model, options, io));
}

function addCheck(program: Command, io: Io, done: Done): void {
  verb(program, 'check', 'Whether a model answers as it did before, and how fast it is here. Kept in the matrix.')
    .argument('<model>', 'name or path')
    .option('--accept', 'take changed tokens as the expected ones from now on')
    .option('--threads <n>', 'threads of the processor', count)
    .addOption(kvType())
    .option('--json', 'one JSON object')
    .addOption(dataDir())
    .action(async (model: string, options) => done(await check(model, options, io)));
}

function addLs(program: Command, io: Io): void {
  verb(program, 'ls', 'The models that Hearth knows.')
    .option('--json', 'one JSON object')
    .addOption(dataDir())
    .action((options) => ls(options, io));
}

function addRm(program: Command, io: Io, done: Done): void {
  verb(program, 'rm', "Delete a model of Hearth's own folder. Models of other programs stay.")
    .argument('<model>', 'name')
    .option('--yes', 'without asking')
    .option('--json', 'one JSON object')
    .addOption(dataDir())
    .action(async (model: string, options) => done(await rm(model, options, io)));
}

function addMemory(program: Command, io: Io, done: Done): void {
  verb(program, 'load', 'Load a model into the Hearth that is running.')
    .argument('<model>', 'name')
    .option('--context <n>', 'tokens that a conversation may have (default: as the memory allows)', count)
    .addOption(kvType())
    .addOption(onDevice('auto, cpu, or an id of `hearth devices` (default: as the settings say)', ['auto', 'cpu']))
    .option('--json', 'one JSON object')
    .addOption(dataDir())
    .action(async (model: string, options) => done(await load(model, options, io, interrupt())));
  verb(program, 'unload', 'Unload a model; without a name, the one in the foreground.')
    .argument('[model]', 'name')
    .option('--json', 'one JSON object')
    .addOption(dataDir())
    .action((model: string | undefined, options) => unload(model, options, io));
  verb(program, 'ps', 'The models that are in memory, and what they do.')
    .option('--json', 'one JSON object')
    .addOption(dataDir())
    .action((options) => ps(options, io));
}

function addPull(program: Command, io: Io, done: Done): void {
  verb(program, 'pull', 'Fetch a model from the hub or from another Hearth, or go on with it. Ctrl-C pauses.')
    .argument('<model>', 'OWNER/NAME, or OWNER/NAME/FILE, or http://HOST:PORT/MODEL of a Hearth that shares it')
    .option('--revision <name>', 'branch, tag or commit (default: main)')
    .addOption(
      new Option('--key <key>', 'of the other Hearth, as `hearth share` prints it there').env('HEARTH_SHARE_KEY'),
    )
    .option('--json', 'one JSON object at the end')
    .addOption(dataDir())
    .action(async (model: string, options) => done(await pull(model, options, io, interrupt())));
}

function addShare(program: Command, io: Io): void {
  verb(program, 'share', 'Let other Hearths on this network copy the models of the one that is running.')
    .option('--off', 'stop it; the key is good for nothing afterwards')
    .option('--json', 'one JSON object')
    .addOption(dataDir())
    .action((options) => share(options, io));
}

function addDoctor(program: Command, io: Io, done: Done): void {
  verb(program, 'doctor', 'What is there, what is not, and what to do about it.')
    .option('--json', 'one JSON object')
    .addOption(dataDir())
    .action(async (options) => done(await doctor(options, io)));
}

function addDevices(program: Command, io: Io): void {
  verb(program, 'devices', 'What this machine can compute with, and why something is not used.')
    .option('--json', 'one JSON object')
    .addOption(dataDir())
    .action((options) => devices(options, io));
}

function addCache(program: Command, io: Io): void {
  const cache = verb(program, 'cache', 'What models have read, kept for after a restart.');
  verb(cache, 'clear', 'Forget it all. Chats stay; long ones are read again.')
    .addOption(dataDir())
    .action((options) => cacheClear(options, io));
}

function dataDir(): Option {
  return new Option('--data-dir <dir>', 'where Hearth keeps its data').env('HEARTH_DATA_DIR');
}

function kvType(): Option {
  return choice('--kv <type>', 'what keys and values are kept in; q8 takes about half (default: f16)', ['f16', 'q8']);
}

function onDevice(description: string, others: readonly string[] = ['cpu']): Option {
  return new Option('--device <device>', description).argParser((text) => {
    if (others.includes(text) || /^vulkan:[0-9a-f]{32}$/.test(text)) return text;
    throw new InvalidArgumentError('It must be a device that `hearth devices` lists.');
  });
}

function onMesh(): Option {
  const description =
    'several devices that share it: tensor:ID=SHARE,…, layers:ID=LAYERS,…+LAYERS-WITH-EXPERTS-ON-CPU, or handover:READS,WRITES';
  return new Option('--mesh <division>', description).argParser((text) => {
    const division = meshOf(text);
    if (division) return division;
    throw new InvalidArgumentError('It must be like tensor:cpu,cpu or layers:vulkan:…=20,cpu=4+0-3.');
  });
}

function choice(flags: string, description: string, values: string[]): Option {
  return new Option(flags, description).choices(values);
}

function verb(program: Command, name: string, description: string): Command {
  return program.command(name).description(description).exitOverride();
}

/** Ctrl-C cancels the answer; a second one ends the process. */
function interrupt(): AbortSignal {
  const controller = new AbortController();
  process.on('SIGINT', () => {
    if (controller.signal.aborted) process.exit(130);
    controller.abort();
  });
  return controller.signal;
}

function whole(text: string): number {
  if (!/^\d+$/.test(text) || !Number.isSafeInteger(Number(text)))
    throw new InvalidArgumentError('It must be a whole number.');
  return Number(text);
}

function count(text: string): number {
  const value = whole(text);
  if (value < 1) throw new InvalidArgumentError('It must be at least 1.');
  return value;
}

function counts(text: string): number[] {
  return text.split(',').map(count);
}

function port(text: string): number {
  const value = whole(text);
  if (value > 65_535) throw new InvalidArgumentError('It must be at most 65535.');
  return value;
}

function number(least: number, most: number): (text: string) => number {
  return (text) => {
    const value = Number(text);
    if (text.trim() === '' || !(value >= least && value <= most)) {
      throw new InvalidArgumentError(`It must be a number from ${least} to ${most}.`);
    }
    return value;
  };
}
