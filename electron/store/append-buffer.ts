// Gathers what growing answers were given and hands it on at most every `flushMs`: a write per token would be a write per token.
import type { MessageDelta } from './types';

export class AppendBuffer {
  private readonly waiting = new Map<string, MessageDelta>();
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly flushMs: number,
    private readonly write: (messageId: string, delta: MessageDelta) => void,
  ) {}

  add(messageId: string, { parts, tokenIds }: MessageDelta): void {
    const delta = this.waiting.get(messageId) ?? { parts: [], tokenIds: [] };
    for (const part of parts) {
      const last = delta.parts.at(-1);
      if (last?.channel === part.channel) last.delta += part.delta;
      else delta.parts.push({ ...part });
    }
    delta.tokenIds.push(...tokenIds);
    this.waiting.set(messageId, delta);
    this.timer ??= setTimeout(() => this.flush(), this.flushMs);
  }

  flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const [messageId, delta] of this.waiting) this.write(messageId, delta);
    this.waiting.clear();
  }
}
