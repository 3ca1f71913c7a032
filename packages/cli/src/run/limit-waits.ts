/** The model calls of a turn, and of the turns that it caused, that wait for a limit of their model now. */
import type { SwarmNotice } from '@goondan/runtime';

export type RuntimeNotice = Extract<SwarmNotice, { readonly type: 'runtime.event' }>;

/** The maximum number of waiting calls that are kept. The others are not shown. */
const MOST_KEPT = 1_000;

export class LimitWaits {
  /** By the span of the call. */
  readonly #waiting = new Map<string, { readonly agent: string; readonly turnId: string; readonly limit: string }>();

  /** `agent` is the agent of the turn; other agents are shown by name. */
  constructor(private readonly agent: string) {}

  hear({ name, at, payload }: RuntimeNotice): void {
    const { spanId, turnId, limit } = payload;
    // A turn that is resumed after a crash begins its calls again.
    if (/^turn\.(started|completed|failed)$/.test(name)) return this.#forget(turnId);
    if (typeof spanId !== 'string' || typeof turnId !== 'string' || typeof limit !== 'string') return;
    if (name === 'limit.waited') this.#waiting.delete(spanId);
    if (name !== 'limit.reached' || this.#waiting.size >= MOST_KEPT) return;
    this.#waiting.set(spanId, { agent: at.agent, turnId, limit });
  }

  /** Describes the oldest wait, such as `waits for concurrent: 3 of Model/main`; `undefined` if no call waits. */
  describe(): string | undefined {
    const [oldest] = this.#waiting.values();
    if (oldest === undefined) return undefined;
    const words = `waits for ${oldest.limit}`;
    return oldest.agent === this.agent ? words : `${oldest.agent} ${words}`;
  }

  #forget(ended: unknown): void {
    for (const [spanId, { turnId }] of this.#waiting) if (turnId === ended) this.#waiting.delete(spanId);
  }
}
