// The runtime process: one port, at most one model, and the methods of the contract. Without a model it is the probe.
// It decides nothing about restarts or queues: main does.
import { HearthError } from '../contract/errors';
import { loadAddon, type Addon } from './addon';
import { workOf } from './bench-work';
import { HostLink, type Handlers } from './host-link';
import { loadModel } from './load-model';
import type { ModelSession } from './model-session';
import { partsOf } from './model-parts';
import { abilitiesOf } from './model-traits';
import { watchParent } from './parent-watch';
import type { HostPort } from './port';
import { createTokenizer } from './tokenizer';
import { tokenizerSource } from './tokenizer-source';

/** How long the machine's limits are measured. */
const LIMITS_SECONDS = 0.6;

/** `entry`: the module that serves prompts when it runs in a thread. */
export function startService(port: HostPort, entry: URL): void {
  watchParent();
  // Ctrl-C reaches every process of a terminal: main ends its children in order, and they go with it.
  for (const signal of ['SIGINT', 'SIGHUP'] as const) process.on(signal, () => undefined);
  port.onClose(() => process.exit(0));
  const link = new HostLink(port);
  const service = new Service(link, entry);
  link.serve(service.handlers());
  link.send({ type: 'ready', pid: process.pid, engineBuild: service.engineBuild() });
}

class Service {
  private session: ModelSession | undefined;
  private loading = false;

  constructor(
    private readonly link: HostLink,
    private readonly entry: URL,
  ) {}

  /** Empty where the engine was not built; every call then says so. */
  engineBuild(): string {
    try {
      return this.addon().engineBuild();
    } catch {
      return '';
    }
  }

  handlers(): Handlers {
    return {
      load: (options) => this.load(options),
      generate: async (request) => {
        await this.model().generate(request);
        return {};
      },
      cancel: ({ id }) => {
        this.session?.cancel(id);
        return {};
      },
      grant: ({ kvBytes }) => {
        this.model().grant(kvBytes);
        return {};
      },
      count: async ({ input }) => ({ tokens: await this.model().count(input) }),
      tokenize: async ({ text }) => ({ tokens: await this.model().tokenize(text) }),
      detokenize: ({ tokens }) => ({ text: this.model().detokenize(tokens) }),
      logits: async ({ tokens }) => ({ logits: await this.model().logits(tokens) }),
      bench: (params) => this.model().bench(params),
      limits: (params) => this.addon().machineLimits({ ...params, seconds: LIMITS_SECONDS }),
      stats: () => this.model().stats(),
      expertUses: () => ({ layers: this.model().expertUses() }),
      drain: async () => ({ unstarted: await this.model().drain() }),
      shutdown: () => this.shutdown(),
      devices: ({ kernelCachePath }) => this.addon().devices(kernelCachePath),
      plan: (params) => this.plan(params),
      identify: ({ path }) => this.identify(path),
      inspect: ({ path }) => this.inspect(path),
    };
  }

  private async load(options: Parameters<typeof loadModel>[0]) {
    if (this.session || this.loading) throw new HearthError('invalid_request', 'This runtime has a model already.');
    this.loading = true;
    try {
      this.session = await loadModel(options, {
        addon: this.addon(),
        entry: this.entry,
        onProgress: (phase, fraction) => this.link.send({ type: 'loading', phase, fraction }),
        emit: (events) => this.link.events(events),
      });
      return this.session.loaded;
    } finally {
      this.loading = false;
    }
  }

  private async plan({ path, prefillChunk }: { path: string; prefillChunk: number }) {
    const planned = await this.addon().planMemory({ modelPath: path, prefillChunk });
    const { model, tensors, weightBytes, scratchBytes, deviceScratchBytes, scratchOfParts } = planned;
    const { layerGroups, mostShares, blockTokens, prefillRows, windows, blockBytes } = planned;
    const kv = { blockTokens, prefillRows, windows, blockBytes };
    const parts = partsOf({ tensors, layerGroups });
    const { decodeBytes } = workOf({ model, tensors, kvBytesPerToken: 0 }, { prefill: 0, sequences: 1 });
    return { model, weightBytes, scratchBytes, deviceScratchBytes, scratchOfParts, decodeBytes, parts, kv, mostShares };
  }

  /** `inspect` without the list of tensors: main looks at every file of a folder, and would get thousands of entries each. */
  private async identify(path: string) {
    const { model, abilities } = await this.inspect(path);
    return { model, abilities };
  }

  private async inspect(path: string) {
    const { tokenizer, ...inspection } = await this.addon().inspect(path);
    return { ...inspection, abilities: abilitiesOf(createTokenizer(tokenizerSource(tokenizer))) };
  }

  private shutdown() {
    // The reply first; then the system takes everything back, faster and more surely than any destructor.
    setImmediate(() => {
      void (this.session?.close() ?? Promise.resolve()).finally(() => process.exit(0));
    });
    return {};
  }

  private model(): ModelSession {
    if (!this.session) throw new HearthError('no_model', 'No model is loaded.');
    return this.session;
  }

  private addon(): Addon {
    try {
      return loadAddon();
    } catch (error) {
      throw new HearthError('addon_missing', error instanceof Error ? error.message : String(error), { cause: error });
    }
  }
}
