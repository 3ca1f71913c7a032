/**
 * Sends spans to the collector.
 *
 * 1. No turn waits for the exporter or fails because of it: `add` only fills a queue. Failures are counted and reported
 *    once, until sending works again.
 * 2. Spans are collected for `gatherMs` and then serialised, even if the collector does not answer. So the exporter
 *    does not keep the data of a turn in memory.
 * 3. The exporter sends one post at a time, of at most `mostInPost` spans and about `longestPost` characters.
 * 4. At most `mostWaiting` spans and `longestWaiting` characters are queued. If the queue is full, new spans are
 *    dropped. A post is retried for `retryForMs`; after that its spans are dropped.
 * 5. `finish` sends the remaining spans once more, within a time limit.
 */
import { type Clock, sleep, waitAtMost } from '../ports/clock.ts';
import type { PostOutcome } from './post-spans.ts';
import type { SpanSource } from './turn-spans.ts';

export const exporterLimits = {
  mostWaiting: 4_096,
  longestWaiting: 16_000_000,
  mostInPost: 512,
  longestPost: 1_000_000,
  /** How long spans are collected before they are serialised. */
  gatherMs: 500,
  retryForMs: 30_000,
  firstDelayMs: 1_000,
  longestDelayMs: 8_000,
};

/** How long to wait for an aborted post to return, so that its spans are counted. */
const LAST_MOMENT_MS = 100;

export interface SpanExporterDeps {
  /** Posts a body. Never rejects. */
  readonly post: (body: string, signal: AbortSignal) => Promise<PostOutcome>;
  /** Makes the body of a post from spans that are already JSON. */
  readonly toBody: (spans: readonly string[]) => string;
  readonly clock: Clock;
  /**
   * Returns a number from 0 to 1, for random delays. Without them, all processes that lost their collector at the same
   * time would also retry at the same time.
   */
  readonly random: () => number;
  readonly report: (level: 'info' | 'warn', message: string) => void;
  readonly limits?: typeof exporterLimits;
}

export class SpanExporter {
  readonly #deps: SpanExporterDeps;
  readonly #limits: typeof exporterLimits;
  /** Aborted when posts are no longer retried. */
  readonly #hurry = new AbortController();
  /** Aborted when nothing is sent any more. */
  readonly #over = new AbortController();
  #gathered: SpanSource[] = [];
  #gatheredSpans = 0;
  /** Queued spans, each as JSON. */
  #waiting: string[] = [];
  #waitingLength = 0;
  #dropped = 0;
  /** True after dropped spans were reported, until sending works again. */
  #isAway = false;
  #callOff: (() => void) | undefined;
  #sending: Promise<void> | undefined;
  #finished: Promise<void> | undefined;

  constructor(deps: SpanExporterDeps) {
    this.#deps = deps;
    this.#limits = deps.limits ?? exporterLimits;
  }

  /** The number of spans dropped so far. */
  get dropped(): number {
    return this.#dropped;
  }

  add(source: SpanSource): void {
    const { mostWaiting, gatherMs } = this.#limits;
    const isFull = this.#gatheredSpans + this.#waiting.length + source.count > mostWaiting;
    if (isFull || this.#finished !== undefined) return this.#drop(source.count, 'too many spans are queued');
    this.#gathered.push(source);
    this.#gatheredSpans += source.count;
    this.#callOff ??= this.#deps.clock.after(gatherMs, () => this.#start());
  }

  /**
   * Sends the remaining spans within `withinMs`, and drops those that are left. A second call has no effect. Never
   * rejects.
   */
  finish(withinMs: number): Promise<void> {
    this.#finished ??= this.#finish(withinMs);
    return this.#finished;
  }

  async #finish(withinMs: number): Promise<void> {
    const { clock, report } = this.#deps;
    this.#hurry.abort();
    this.#start();
    await waitAtMost(clock, withinMs, this.#sending ?? Promise.resolve());
    this.#over.abort(new Error('the agent ends'));
    await waitAtMost(clock, LAST_MOMENT_MS, this.#sending ?? Promise.resolve());
    if (this.#dropped > 0) report('warn', `${this.#dropped} spans were not exported.`);
  }

  #start(): void {
    this.#callOff?.();
    this.#callOff = undefined;
    this.#putIntoWords();
    if (this.#waiting.length > 0) this.#sending ??= this.#sendAll();
  }

  /**
   * Serialises the collected spans. Drops spans that cannot be serialised. Their data comes from bundle code, so even
   * reading a field of an error may throw.
   */
  #putIntoWords(): void {
    const gathered = this.#gathered;
    this.#gathered = [];
    this.#gatheredSpans = 0;
    for (const source of gathered) {
      try {
        const spans = source.spans().map((span) => JSON.stringify(span));
        const length = lengthOf(spans);
        const isTooMuch = this.#waitingLength + length > this.#limits.longestWaiting;
        if (isTooMuch) this.#drop(spans.length, 'the queue of spans is full');
        else this.#waiting.push(...spans);
        this.#waitingLength += isTooMuch ? 0 : length;
      } catch (error) {
        this.#drop(source.count, error instanceof Error ? error.message : String(error));
      }
    }
  }

  async #sendAll(): Promise<void> {
    while (this.#waiting.length > 0) {
      const batch = this.#takeBatch();
      await this.#send(batch).catch((error: unknown) => this.#drop(batch.length, String(error)));
    }
    // No `await` may be between the loop and this line, because a span that is added in between needs a new sender.
    this.#sending = undefined;
  }

  #takeBatch(): string[] {
    const { mostInPost, longestPost } = this.#limits;
    let length = 0;
    const isFull = (span: string, index: number) => (length += span.length) > longestPost && index > 0;
    const end = this.#waiting.slice(0, mostInPost).findIndex(isFull);
    const batch = this.#waiting.splice(0, end === -1 ? mostInPost : end);
    this.#waitingLength -= lengthOf(batch);
    return batch;
  }

  async #send(spans: readonly string[]): Promise<void> {
    const { post, toBody, clock } = this.#deps;
    const body = toBody(spans);
    const giveUpAt = clock.elapsed() + this.#limits.retryForMs;
    for (let tries = 1; ; tries++) {
      if (this.#over.signal.aborted) return this.#drop(spans.length, 'the agent ends');
      const outcome = await post(body, this.#over.signal);
      if (outcome.type === 'taken') return this.#taken(outcome);
      const delayMs = this.#delayOf(outcome, tries);
      const isLast = this.#hurry.signal.aborted || clock.elapsed() + delayMs > giveUpAt;
      if (outcome.type === 'refused' || isLast) return this.#drop(spans.length, outcome.why);
      // `finish` ends this wait early, and the post is then retried once more.
      await sleep(clock, delayMs, this.#hurry.signal).catch(() => undefined);
    }
  }

  #delayOf(outcome: PostOutcome, tries: number): number {
    const { firstDelayMs, longestDelayMs } = this.#limits;
    const grown = Math.min(longestDelayMs, firstDelayMs * 2 ** (tries - 1)) * (0.5 + this.#deps.random() / 2);
    return Math.max(grown, outcome.type === 'away' ? (outcome.retryAfterMs ?? 0) : 0);
  }

  #taken({ rejected, why }: Extract<PostOutcome, { type: 'taken' }>): void {
    if (rejected > 0) return this.#drop(rejected, `the collector did not accept them: ${why}`);
    if (this.#isAway) this.#deps.report('info', `Spans are exported again; ${this.#dropped} spans were dropped.`);
    this.#isAway = false;
  }

  #drop(count: number, why: string): void {
    this.#dropped += count;
    if (this.#isAway) return;
    this.#isAway = true;
    this.#deps.report(
      'warn',
      `Spans cannot be exported, and are dropped until the collector accepts them again (${why}). Turns are not affected.`,
    );
  }
}

function lengthOf(texts: readonly string[]): number {
  return texts.reduce((sum, text) => sum + text.length, 0);
}
