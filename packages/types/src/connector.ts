/** What a connector module exports and what it is given. */
import type { Cleanup } from './extension.ts';
import type { JsonObject } from './json.ts';
import type { TokenUsage, TurnDelta } from './model.ts';
import type { TurnError, TurnResult } from './turn.ts';

/** Something a connector heard. It has no address: the rules of the Connection give it one. */
export interface ConnectorEvent {
  /** One of the events the connector declares. */
  readonly name: string;
  /** The text to answer. */
  readonly input?: string;
  /** What the rules match, and take instance keys from. */
  readonly properties?: JsonObject;
  /** Who is asking, as the connector established it. */
  readonly auth?: JsonObject;
  readonly metadata?: JsonObject;
  /** The sender's own id for it, such as the delivery id of a webhook: the same id again is the same event. Made up when absent. */
  readonly id?: string;
  /** When it happened; now when absent. */
  readonly createdAt?: Date;
  /** The trace it belongs to outside, 32 lowercase hexadecimal digits as in `traceparent`; a new one when absent. */
  readonly traceId?: string;
  /** The span of whoever asks, 16 lowercase hexadecimal digits: the turn's own span hangs under it. Counts with `traceId` only. */
  readonly parentSpanId?: string;
  /** False: whoever asks does not record this trace, so no spans of it are exported. */
  readonly isSampled?: boolean;
}

/**
 * Hands an event to the swarm.
 *
 * **When it resolves** — when the event is on disk: it will be handled, whatever happens. Only then tell the sender.
 * **Rules** — allowed at any time, also after `signal` aborted. An `id` that was accepted before is accepted again, and
 * nothing is added. Many may be under way at once; past 1000, `E_IPC_FULL`.
 * **Errors** — not one of the declared events, or malformed: `E_CONNECTOR_EVENT`; no rule for it: `E_INGRESS_RULE`; no
 * instance key in it: `E_INGRESS_KEY`; too much waits already: `E_INBOX_FULL` or `E_IPC_FULL`, both `retryable`. After
 * `E_IPC_CLOSED` it is unknown whether it was accepted: emit it again with the same `id`.
 *
 * @example
 * await ctx.emit({ name: 'message', input: body.text, id: delivery, properties: { chat: body.chat.id } });
 * return new Response('accepted', { status: 202 });
 */
export type EmitEvent = (event: ConnectorEvent) => Promise<void>;

/** It is on disk: it will be handled, whatever happens. */
export interface ConnectorAcceptance {
  readonly agent: string;
  readonly instanceKey: string;
  readonly turnId: string;
  readonly traceId: string;
  /** An event of this id had been accepted before; nothing was added. */
  readonly duplicate: boolean;
}

/** How the turn of an event ended. */
export interface ConnectorAnswer extends ConnectorAcceptance {
  /** The text of the answer; empty when there is none. */
  readonly response: string;
  readonly finishReason: TurnResult['finishReason'];
  /** True when the response ended at a limit of tokens and is not whole; absent otherwise. */
  readonly truncated?: boolean;
  /** Why the turn failed, when it did. */
  readonly error?: TurnError;
  /** Nothing when the turn was over before this ask. */
  readonly usage: TokenUsage;
}

export interface ConnectorAskOptions {
  /** Aborting it gives up waiting: the promise rejects with its reason, and the turn goes on. */
  readonly signal?: AbortSignal;
  /** Aborting `signal` cancels the turn as well, running or still waiting. */
  readonly cancelOnAbort?: boolean;
  /** Told once, before any delta, when the event is on disk. */
  readonly onAccepted?: (acceptance: ConnectorAcceptance) => void;
  /** Hears the turn while it runs, unless a layer of the agent buffers. One may be lost: the answer itself is whole. */
  readonly onDelta?: (delta: TurnDelta) => void;
}

/**
 * Hands an event to the swarm, as `emit` does, and waits for the end of its turn.
 *
 * **When it resolves** — when the turn is over, also one that failed or was cancelled: `finishReason` says so.
 * **Rules** — the turn does not hang on whoever waits: when this process ends, it goes on. An `id` that was accepted
 * before waits for the turn it has, or gets the answer it had. At most 256 wait at once.
 * **Errors** — those of `emit`, when it was not accepted; past the bound `E_CALLS_FULL`, `retryable`. After `onAccepted`:
 * `E_AGENT_START` when the agent does not start, `E_SWARM_STOPPED` when the swarm stops first, `E_IPC_CLOSED`; the turn
 * goes on when it can, and asking again with the same `id` gives its answer. What was handled too long ago to be known
 * is an answer with the error `E_TURN_FORGOTTEN`. A callback that throws is logged, and ends nothing.
 *
 * @example
 * const { response } = await ctx.ask({ name: 'question', input }, { signal: request.signal });
 * return new Response(response);
 */
export type AskSwarm = (event: ConnectorEvent, options?: ConnectorAskOptions) => Promise<ConnectorAnswer>;

export interface ConnectorContext<Config = JsonObject> {
  readonly emit: EmitEvent;
  readonly ask: AskSwarm;
  /** The Connection's `config`. */
  readonly config: Config;
  /** The Connection's `secrets`, resolved; those of 8 characters and more are masked in logs and errors. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The agents that the rules of the Connection route to, each once, in the order of the rules. */
  readonly agents: readonly string[];
  /** A folder of the Connection's own: what is written into it is there at the next start. */
  readonly folder: string;
  /** The Console methods; lines are structured, carry the connection's name, secrets masked. */
  readonly logger: Console;
  /** Aborts when the connector has to go: stop listening, finish what was heard. */
  readonly signal: AbortSignal;
}

/**
 * The entry of a connector: listens to the outside and emits what it hears.
 *
 * **When it fires** — once, when the process of its Connection starts; again in a new process after a crash.
 * **Rules** — resolve when you listen, or stay pending until `signal` aborts; both are fine, and the process lives on
 * either way. After a second without a failure it counts as listening. When `signal` aborts, stop listening and settle;
 * a function that the promise resolved with is called then. The process ends when the promise, that function, every emit
 * and every ask are settled, or when the grace period is over.
 * **Errors** — a throw, and an error nobody catches, end the process; it is started again, with a growing delay when
 * that goes on.
 *
 * @example
 * const connector: Connector<{ port: number }> = async ({ emit, config }) => {
 *   const server = Bun.serve({
 *     port: config.port,
 *     async fetch(request) {
 *       const id = request.headers.get('x-delivery-id');
 *       await emit({ name: 'message', input: await request.text(), ...(id && { id }) });
 *       return new Response('accepted', { status: 202 });
 *     },
 *   });
 *   return () => server.stop();
 * };
 * export default connector;
 */
export type Connector<Config = JsonObject> = (ctx: ConnectorContext<Config>) => Promise<void | Cleanup>;

export interface ConnectorModule {
  default: Connector;
}
