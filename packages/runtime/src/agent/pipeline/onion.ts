/**
 * The one function that runs every middleware chain: turn, step, toolCall, model.
 *
 * Invariants:
 * 1. The core runs at most once.
 * 2. Nothing inside a layer is still running when the layer's own promise settles.
 * 3. An author's mistake (twice, late, not awaited, a wrong result, out of time) is a coded error naming the extension.
 * 4. A layer's error object reaches the outer layers as it was thrown, with the extension's name attached.
 */
import { GoondanError, type ErrorCode, type MiddlewareKind } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import type { ChainSpan, LayerSpan } from '../../trace/layer-span.ts';
import { attachExtension, toTurnError } from './turn-error.ts';
import { type ChainContext, layerContext } from './layer-context.ts';
import type { Layer } from './layer.ts';

export interface Chain<Result> {
  readonly kind: MiddlewareKind;
  /** Outermost first. */
  readonly layers: readonly Layer[];
  readonly context: ChainContext;
  readonly core: () => Promise<Result>;
  /** Why a value is not a result of this kind; undefined when it is one. */
  readonly problemWith: (value: unknown) => string | undefined;
  readonly clock: Clock;
  readonly warn: (warning: LayerWarning) => void;
  /** Present when somebody watches. */
  readonly span?: ChainSpan | undefined;
}

export interface LayerWarning {
  readonly event: 'middleware.short_circuit' | 'middleware.skipped' | 'middleware.next_late';
  readonly layer: Layer;
  readonly message: string;
}

export function runOnion<Result>(chain: Chain<Result>): Promise<Result> {
  return runFrom(chain, 0);
}

function runFrom<Result>(chain: Chain<Result>, index: number): Promise<Result> {
  const layer = chain.layers[index];
  if (layer !== undefined) return new LayerRun(chain, index, layer).run();
  return chain.core();
}

class LayerRun<Result> {
  private inner: Promise<Result> | undefined;
  private innerState: 'running' | 'resolved' | 'rejected' = 'running';
  private innerValue: unknown;
  private calls = 0;
  private ended = false;
  private deadline: OwnTimeDeadline | undefined;
  private readonly span: LayerSpan | undefined;

  constructor(
    private readonly chain: Chain<Result>,
    private readonly index: number,
    private readonly layer: Layer,
  ) {
    this.span = chain.span?.enter(layer);
  }

  async run(): Promise<Result> {
    let returned: unknown;
    try {
      returned = await this.call();
    } catch (error) {
      this.ended = true;
      await this.innerSettled();
      return this.fail(error);
    }
    this.ended = true;
    const mistake = await this.findMistake(returned);
    if (mistake !== undefined) return this.fail(mistake);
    this.span?.exit({ result: returned });
    // findMistake has just checked it.
    return returned as Result;
  }

  private call(): unknown {
    const context = layerContext(this.chain.context, { layer: this.layer, span: this.span }, this.next);
    const { timeoutMs } = this.layer;
    if (timeoutMs === undefined) return this.layer.run(context);
    this.deadline = new OwnTimeDeadline(this.chain.clock, timeoutMs, () =>
      this.mistake('E_MIDDLEWARE_TIMEOUT', `ran longer than its timeoutMs of ${timeoutMs}`),
    );
    return this.deadline.race(() => this.layer.run(context));
  }

  /** What the layer calls to go on inwards. */
  private readonly next = (): Promise<Result> => {
    this.calls++;
    if (this.ended) return Promise.reject(this.late());
    if (this.inner !== undefined) return Promise.reject(this.mistake('E_NEXT_TWICE', 'called next() more than once'));
    this.deadline?.pause();
    this.span?.next();
    const inner = runFrom(this.chain, this.index + 1);
    this.inner = inner;
    inner.then(
      (value) => this.settle('resolved', value),
      (error: unknown) => this.settle('rejected', error),
    );
    return inner;
  };

  private settle(state: 'resolved' | 'rejected', value: unknown): void {
    this.innerState = state;
    this.innerValue = value;
    this.span?.innerSettled(state === 'resolved' ? value : undefined);
    if (!this.ended) this.deadline?.resume();
  }

  private async findMistake(returned: unknown): Promise<GoondanError | undefined> {
    if (this.inner !== undefined && this.innerState === 'running') {
      await this.innerSettled();
      return this.mistake('E_NEXT_NOT_AWAITED', 'returned before next() was finished');
    }
    if (this.calls > 1) return this.mistake('E_NEXT_TWICE', 'called next() more than once');
    const problem = this.chain.problemWith(returned);
    if (problem !== undefined)
      return this.mistake('E_MIDDLEWARE_RESULT', `returned no ${this.chain.kind} result: ${problem}`);
    if (this.inner === undefined) this.shortCircuit();
    return undefined;
  }

  private shortCircuit(): void {
    this.span?.shortCircuit();
    if (this.layer.mayShortCircuit) return;
    this.chain.warn({
      event: 'middleware.short_circuit',
      layer: this.layer,
      message: `${this.described()} never called next(): everything inside it was skipped. If it means to, register it with mayShortCircuit: true.`,
    });
  }

  /** The chain's error, or, for a layer that says `onError: 'skip'`, the chain without this layer. */
  private async fail(error: unknown): Promise<Result> {
    const ownError = this.innerState !== 'rejected' || error !== this.innerValue;
    if (!ownError) {
      this.span?.exit({ error });
      throw error;
    }
    const attached = attachExtension(error, this.layer.extension);
    if (this.layer.onError === 'fail') {
      this.span?.exit({ error: attached });
      // eslint-disable-next-line only-throw-error -- the very object the layer threw, whatever it is
      throw attached;
    }
    this.span?.exit({ error: attached, skipped: true });
    this.chain.warn({
      event: 'middleware.skipped',
      layer: this.layer,
      message: `${this.described()} failed and was skipped (onError: 'skip'): ${toTurnError(attached).message}`,
    });
    return this.inner ?? runFrom(this.chain, this.index + 1);
  }

  private async innerSettled(): Promise<void> {
    if (this.inner === undefined || this.innerState !== 'running') return;
    await this.inner.then(
      () => undefined,
      () => undefined,
    );
  }

  private late(): GoondanError {
    const error = this.mistake('E_NEXT_LATE', 'called next() after it had returned');
    this.chain.warn({ event: 'middleware.next_late', layer: this.layer, message: error.message });
    return error;
  }

  private mistake(code: ErrorCode, what: string): GoondanError {
    return new GoondanError(code, `${this.described()} ${what}.`);
  }

  private described(): string {
    const { kind, extension, name } = this.layer;
    return `The ${kind} layer "${name}" of extension "${extension}"`;
  }
}

/** Counts only the layer's own time: the clock stands still while what is inside it runs. */
class OwnTimeDeadline {
  private callOff: (() => void) | undefined;
  private startedAt = 0;
  private remaining: number;
  private finished = false;
  private readonly expired = Promise.withResolvers<never>();

  constructor(
    private readonly clock: Clock,
    timeoutMs: number,
    private readonly whenExpired: () => GoondanError,
  ) {
    this.remaining = timeoutMs;
  }

  async race(run: () => unknown): Promise<unknown> {
    this.resume();
    try {
      return await Promise.race([run(), this.expired.promise]);
    } finally {
      this.finished = true;
      this.pause();
    }
  }

  pause(): void {
    if (this.callOff === undefined) return;
    this.callOff();
    this.callOff = undefined;
    this.remaining -= this.clock.elapsed() - this.startedAt;
  }

  resume(): void {
    if (this.finished) return;
    this.startedAt = this.clock.elapsed();
    this.callOff = this.clock.after(Math.max(0, this.remaining), () => this.expired.reject(this.whenExpired()));
  }
}
