/**
 * The calls that are open at one server, and the call that a request of the server belongs to.
 *
 * 1. A request that arrives in the stream of a call, or as its answer, belongs to that call. The call is known by its
 *    asynchronous context: the transport reads the stream in the context in which it sent the call.
 * 2. Any other request, over stdio or outside of a stream, belongs to a call only if no other call is open, because the
 *    protocol names no call.
 * 3. A call that ended without an answer of the server counts as open for `FORGET_MS`, because the server may still work on
 *    it. So nobody is asked on behalf of the conversation of somebody else.
 * 4. The time that a person needs does not count for the deadline of the call.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { CallDeadline } from './call-deadline.ts';
import type { Clock } from './clock.ts';
import type { AskOptions } from './mcp-client.ts';
import { McpFailure } from './mcp-failure.ts';
import type { ServerAnswer, ServerQuestion } from './server-question.ts';

/** How long an unanswered call counts as open. */
const FORGET_MS = 600_000;
/** The maximum number of unanswered calls that are counted. */
const MOST_UNANSWERED = 1_000;

export interface OpenCall {
  /** Asks the person of this call. The deadline of the call is paused meanwhile. */
  ask(question: ServerQuestion, signal: AbortSignal): Promise<ServerAnswer>;
}

export class OpenCalls {
  readonly #storage = new AsyncLocalStorage<OpenCall>();
  readonly #open = new Set<OpenCall>();
  /** The times at which calls ended without an answer. */
  readonly #unanswered: number[] = [];

  constructor(private readonly clock: Clock) {}

  /**
   * Runs a request. If a person can be asked, the options that `work` gets have a signal in place of the timeout, because the
   * deadline pauses.
   */
  async run<Value>(options: AskOptions, work: (options: AskOptions) => Promise<Value>): Promise<Value> {
    const { onQuestion, signal: outer } = options;
    if (onQuestion === undefined) return this.#storage.run(silentCall, () => work(options));
    const deadline = new CallDeadline(this.clock, options.timeoutMs);
    const signal = outer === undefined ? deadline.signal : AbortSignal.any([outer, deadline.signal]);
    const call: OpenCall = {
      ask: (question, withdrawn) =>
        deadline.pausedFor(() => onQuestion(question, AbortSignal.any([signal, withdrawn]))),
    };
    this.#open.add(call);
    try {
      return await this.#storage.run(call, () => work(withDeadline(options, deadline, signal)));
    } finally {
      deadline.end();
      this.#open.delete(call);
      if (signal.aborted && this.#countUnanswered() < MOST_UNANSWERED) this.#unanswered.push(this.clock.elapsed());
    }
  }

  /** Returns the call that a request of the server belongs to. **Errors** — a `McpFailure`. */
  find(): OpenCall {
    const own = this.own();
    if (own !== undefined) return own;
    const [only] = this.#open;
    const isOfAnother = this.#storage.getStore() !== undefined;
    if (isOfAnother || only === undefined) throw new McpFailure('question', 'it asked a person outside of a call.');
    const count = this.#open.size + this.#countUnanswered();
    if (count === 1) return only;
    throw new McpFailure(
      'question',
      `it asked a person while ${count} calls were open, so nobody knows for which one.`,
    );
  }

  /** Returns the call in whose context this code runs, if a person can be asked for it. */
  own(): OpenCall | undefined {
    const own = this.#storage.getStore();
    return own !== undefined && this.#open.has(own) ? own : undefined;
  }

  /** Forgets unanswered calls, because the server has a new connection. */
  reset(): void {
    this.#unanswered.length = 0;
  }

  #countUnanswered(): number {
    const since = this.clock.elapsed() - FORGET_MS;
    while ((this.#unanswered[0] ?? Infinity) < since) this.#unanswered.shift();
    return this.#unanswered.length;
  }
}

/** A request for which nobody can be asked. */
const silentCall: OpenCall = {
  ask: () => Promise.reject(new McpFailure('question', 'it asked a person outside of a call.')),
};

function withDeadline(options: AskOptions, deadline: CallDeadline, signal: AbortSignal): AskOptions {
  const { onProgress } = options;
  if (onProgress === undefined) return { ...options, timeoutMs: NEVER_MS, signal };
  return {
    ...options,
    timeoutMs: NEVER_MS,
    signal,
    onProgress(said) {
      deadline.restart();
      onProgress(said);
    },
  };
}

/** The longest time that a timer can wait. */
const NEVER_MS = 2 ** 31 - 1;
