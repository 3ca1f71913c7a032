/**
 * The only function that runs middleware chains: turn, step, toolCall, model.
 *
 * Invariants:
 * 1. The core runs at most once.
 * 2. When the promise of a layer settles, nothing inside the layer is still running.
 * 3. An author's mistake (`next()` called twice or late or not awaited, a wrong result, a timeout) becomes an error
 *    with a code that names the extension.
 * 4. A layer's error object reaches the outer layers as it was thrown, with the extension's name attached.
 */
import { GoondanError, type ErrorCode, type MiddlewareKind } from '@goondan/types';
import type { Clock } from '../../ports/clock.ts';
import { unlessThrows } from '../../ports/unless-throws.ts';
import { inScope } from '../../trace/draw-scope.ts';
import type { ChainSpan, LayerSpan } from '../../trace/layer-span.ts';
import { OwnTimeTimer } from '../own-time-timer.ts';
import { attachExtension, toTurnError } from './turn-error.ts';
import type { AskingLayer, LayerContext } from './layer-context.ts';
import type { Layer } from './layer.ts';

export interface Chain<Result> {
  readonly kind: MiddlewareKind;
  /** Outermost first. */
  readonly layers: readonly Layer[];
  /** Makes the object that one layer receives; the state behind it is shared by all layers. */
  readonly contextFor: (asking: AskingLayer, next: () => Promise<Result>) => LayerContext;
  readonly core: () => Promise<Result>;
  /** Returns the value as a result of this kind, without unknown fields. **Errors** — `NotResult`, if it is none. */
  readonly read: (value: unknown, reader: ResultReader) => Result;
  readonly clock: Clock;
  readonly warn: (warning: LayerWarning) => void;
  /** Called when no layer of the chain runs any more: before the core, and at the end. */
  readonly wait?: (() => void) | undefined;
  /** Called when a layer returned a result without calling `next()`, with the name of the layer's extension. */
  readonly answered?: ((extension: string) => void) | undefined;
  /** Called when a layer returned a result although its `next()` had failed. */
  readonly recovered?: (() => void) | undefined;
  /** Present when the turn is traced or recorded. */
  readonly span?: ChainSpan | undefined;
}

/** Thrown when a value is not a result. Its message is the reason. */
export class NotResult extends Error {
  /** Returns the reason, or `undefined` for anything else that was thrown, even for a proxy that throws at every look. */
  static reasonOf(thrown: unknown): string | undefined {
    return unlessThrows(() => (thrown instanceof NotResult ? thrown.message : undefined));
  }
}

export interface ResultReader {
  /** Called with the description of the unknown fields that were dropped from a result. */
  dropped(unknownFields: string): void;
}

export interface LayerWarning {
  readonly event:
    'middleware.short_circuit' | 'middleware.skipped' | 'middleware.next_late' | 'middleware.unknown_field';
  readonly layer: Layer;
  readonly message: string;
}

export function runOnion<Result>(chain: Chain<Result>): Promise<Result> {
  const { span } = chain;
  return span === undefined ? runFrom(chain, 0, undefined) : runWatched(chain, span);
}

/** Runs the chain in the scope of its span, and tells the span how the chain ended. */
async function runWatched<Result>(chain: Chain<Result>, span: ChainSpan): Promise<Result> {
  const run = () => runFrom(chain, 0, undefined);
  try {
    const result = await (span.scope === undefined ? run() : inScope(span.scope, run));
    span.end(result);
    return result;
  } catch (error) {
    span.fail(error);
    throw error;
  }
}

function runFrom<Result>(chain: Chain<Result>, index: number, outer: LayerRun<Result> | undefined): Promise<Result> {
  const layer = chain.layers[index];
  return layer === undefined ? runCore(chain, outer) : new LayerRun(chain, index, layer, outer).run();
}

function runCore<Result>(chain: Chain<Result>, outer: LayerRun<Result> | undefined): Promise<Result> {
  chain.wait?.();
  const running = startCore(chain);
  if (outer === undefined) return running;
  return running.then(
    (result) => {
      outer.innerResolved(result);
      return result;
    },
    (error: unknown) => {
      outer.innerRejected(error);
      throw error;
    },
  );
}

/** Starts the core. If it throws at once, that is a rejection too: otherwise `next()` would throw, as if no core had run. */
function startCore<Result>(chain: Chain<Result>): Promise<Result> {
  try {
    return chain.core();
  } catch (error) {
    return Promise.reject(error);
  }
}

/**
 * One run of a layer. The next inner layer, or the core, reports its end to this object directly, just before the
 * promise of `next()` settles.
 */
class LayerRun<Result> implements AskingLayer, ResultReader {
  // A field with `declare` exists once it is assigned. Most runs need only those that the constructor assigns, and a
  // run is created for each layer of each chain.
  declare readonly span: LayerSpan | undefined;
  declare private inner: Promise<Result> | undefined;
  declare private innerState: 'none' | 'running' | 'resolved' | 'rejected';
  declare private innerError: unknown;
  declare private calledTwice: GoondanError | undefined;
  declare private didNotWait: true | undefined;
  declare private ended: boolean;
  declare private deadline: OwnTimeTimer | undefined;

  constructor(
    private readonly chain: Chain<Result>,
    private readonly index: number,
    readonly layer: Layer,
    private readonly outer: LayerRun<Result> | undefined,
  ) {
    this.inner = undefined;
    this.innerState = 'none';
    this.ended = false;
    this.span = chain.span?.enter(layer);
  }

  async run(): Promise<Result> {
    let returned: unknown;
    try {
      const { timeoutMs } = this.layer;
      returned = await (timeoutMs === undefined ? this.callLayer() : this.callInTime(timeoutMs));
    } catch (error) {
      return this.threw(error);
    }
    this.ended = true;
    if (this.didNotWait || this.innerState === 'running') return this.failForNotWaiting();
    if (this.calledTwice !== undefined) return this.fail(this.calledTwice);
    let result: Result;
    try {
      result = this.chain.read(returned, this);
    } catch (error) {
      return this.fail(this.noResult(error));
    }
    if (this.innerState === 'none') this.shortCircuit();
    if (this.sawFailure) this.chain.recovered?.();
    this.span?.exit(result);
    return this.resolve(result);
  }

  get sawFailure(): boolean {
    return this.innerState === 'rejected';
  }

  innerResolved(value: unknown): void {
    this.innerState = 'resolved';
    this.layer.mark?.();
    if (this.span !== undefined || this.deadline !== undefined) this.innerSettled(value);
  }

  innerRejected(thrown: unknown): void {
    this.innerState = 'rejected';
    this.layer.mark?.();
    this.innerError = thrown;
    // The layer may not have handled the promise of next(). The rejection of that promise must not end the process.
    this.inner?.catch(() => undefined);
    this.innerSettled(undefined);
  }

  dropped(unknownFields: string): void {
    const message = `${this.described()} returned an unknown field, which was dropped: ${unknownFields}.`;
    this.chain.warn({ event: 'middleware.unknown_field', layer: this.layer, message });
  }

  private async callInTime(timeoutMs: number): Promise<unknown> {
    const late = Promise.withResolvers<never>();
    this.deadline = new OwnTimeTimer(this.chain.clock, timeoutMs, () =>
      late.reject(this.mistake('E_MIDDLEWARE_TIMEOUT', `ran longer than its timeoutMs of ${timeoutMs}`)),
    );
    this.deadline.start();
    try {
      return await Promise.race([this.callLayer(), late.promise]);
    } finally {
      this.deadline.stop();
    }
  }

  private callLayer(): unknown {
    this.layer.mark?.();
    const returned = this.layer.run(this.chain.contextFor(this, () => this.next()));
    // Checked now, because a moment later the inner part may have settled, and the missing await would go unnoticed.
    if (this.innerState === 'running' && isSettled(returned)) this.didNotWait = true;
    return returned;
  }

  /** The `next` function of the layer's context. It runs everything inside this layer. */
  private next(): Promise<Result> {
    if (this.ended) return refuse(this.late());
    if (this.innerState !== 'none') {
      this.calledTwice = this.mistake('E_NEXT_TWICE', 'called next() more than once');
      return refuse(this.calledTwice);
    }
    this.innerState = 'running';
    this.deadline?.pause();
    this.span?.next();
    this.inner = runFrom(this.chain, this.index + 1, this);
    return this.inner;
  }

  private innerSettled(result: unknown): void {
    this.span?.innerSettled(result);
    if (!this.ended) this.deadline?.resume();
  }

  /** `error`: a `NotResult`, or what a getter or a proxy of the layer threw. */
  private noResult(error: unknown): GoondanError {
    const problem = NotResult.reasonOf(error) ?? `it cannot be read: ${toTurnError(error).message}`;
    const mistake = this.mistake('E_MIDDLEWARE_RESULT', `returned no ${this.chain.kind} result: ${problem}`);
    // The layer has returned, so the stack has only lines of the outer layers that wait. None of them is the place.
    mistake.stack = `${mistake.name}: ${mistake.message}`;
    return mistake;
  }

  private shortCircuit(): void {
    this.span?.shortCircuit();
    this.chain.answered?.(this.layer.extension);
    if (this.layer.mayShortCircuit) return;
    this.chain.warn({
      event: 'middleware.short_circuit',
      layer: this.layer,
      message: `${this.described()} never called next(): everything inside it was skipped. If it means to, register it with mayShortCircuit: true.`,
    });
  }

  private async failForNotWaiting(): Promise<Result> {
    await this.waitForInner();
    return this.fail(this.mistake('E_NEXT_NOT_AWAITED', 'returned before next() was finished'));
  }

  private async threw(error: unknown): Promise<Result> {
    this.ended = true;
    await this.waitForInner();
    return this.fail(error);
  }

  /** Rejects with the error. If the layer has `onError: 'skip'`, the chain continues without the layer instead. */
  private async fail(error: unknown): Promise<Result> {
    const passedOn = this.innerState === 'rejected' && error === this.innerError;
    const thrown = passedOn ? error : attachExtension(error, this.layer.extension);
    if (passedOn || this.layer.onError === 'fail') {
      this.span?.fail(thrown, false);
      return this.reject(thrown);
    }
    this.span?.fail(thrown, true);
    this.chain.warn({
      event: 'middleware.skipped',
      layer: this.layer,
      message: `${this.described()} failed and was skipped (onError: 'skip'): ${toTurnError(thrown).message}`,
    });
    return this.goOnWithout();
  }

  private async goOnWithout(): Promise<Result> {
    try {
      return this.resolve(await (this.inner ?? runFrom(this.chain, this.index + 1, undefined)));
    } catch (error) {
      return this.reject(error);
    }
  }

  private resolve(result: Result): Result {
    if (this.outer === undefined) this.chain.wait?.();
    else this.outer.innerResolved(result);
    return result;
  }

  private reject(thrown: unknown): never {
    if (this.outer === undefined) this.chain.wait?.();
    else this.outer.innerRejected(thrown);
    throw thrown;
  }

  private async waitForInner(): Promise<void> {
    if (this.innerState !== 'running') return;
    await this.inner?.then(
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

/**
 * Returns a rejected promise that counts as handled. If an author ignores it, the chain still fails with this error,
 * but the process continues.
 */
function refuse(mistake: GoondanError): Promise<never> {
  const refused = Promise.reject(mistake);
  refused.catch(() => undefined);
  return refused;
}

/** Returns true if the returned value is final: a settled promise, or not a promise at all. */
function isSettled(returned: unknown): boolean {
  if (returned instanceof Promise) return Bun.peek(returned) !== returned;
  return typeof returned !== 'object' || returned === null || !('then' in returned);
}
