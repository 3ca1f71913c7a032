/** The exports of a connector module, and the context that the connector gets. */
import type { ConnectorQuestions } from './connector-question.ts';
import type { Cleanup } from './extension.ts';
import type { InputPart } from './input-part.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { TokenUsage, TurnDelta } from './model.ts';
import type { OutputDemand } from './output.ts';
import type { TurnError, TurnResult } from './turn.ts';

/** An event from a connector. It has no address: the Connection's rules choose the agent and the instance. */
export interface ConnectorEvent {
  /** One of the event names that the connector declares. */
  readonly name: string;
  /** The text that the agent answers. */
  readonly input?: string;
  /** Images, files and further text, after `input`. The runtime stores their bytes before it accepts the event. */
  readonly content?: readonly InputPart[];
  /** Values that the Connection's rules match, and from which they take instance keys. */
  readonly properties?: JsonObject;
  /** The identity of the sender, as the connector established it. */
  readonly auth?: JsonObject;
  readonly metadata?: JsonObject;
  /** The demand for an answer that fits a JSON Schema. It wins over the `output` of the agent. */
  readonly output?: OutputDemand;
  /**
   * The sender's own id, such as the delivery id of a webhook. Two events with the same id are the same event. An id is
   * generated when absent.
   */
  readonly id?: string;
  /** The time of the event; now when absent. */
  readonly createdAt?: Date;
  /** The id of the sender's trace, 32 lowercase hexadecimal digits as in `traceparent`; a new trace id when absent. */
  readonly traceId?: string;
  /**
   * The id of the sender's span, 16 lowercase hexadecimal digits. This span becomes the parent of the turn's span. Used
   * only with `traceId`.
   */
  readonly parentSpanId?: string;
  /** If false, the sender does not record this trace, so its spans are not exported. */
  readonly isSampled?: boolean;
}

/**
 * Passes an event to the swarm.
 *
 * **When it resolves** — when the event is on disk. From then on it will be handled, even after a crash. Confirm the
 * event to the sender only after that.
 * **Rules** — allowed at any time, also after `signal` aborted. An event with a known `id` is accepted, but not added
 * again. At most 1000 emits may be in progress; another one fails with `E_IPC_FULL`.
 * **Errors** — an undeclared or malformed event, or one with an unknown field: `E_CONNECTOR_EVENT`; no matching rule: `E_INGRESS_RULE`; no instance
 * key: `E_INGRESS_KEY`; a wrong or too large file: `E_FILE_INVALID`, `E_FILE_SIZE`; a schema that cannot be used: `E_OUTPUT_INVALID`; too much waiting input: `E_INBOX_FULL` or `E_IPC_FULL`, both `retryable`. After `E_IPC_CLOSED`
 * it is unknown whether the event was accepted, so emit the event again with the same `id`.
 *
 * @example
 * await ctx.emit({ name: 'message', input: body.text, id: delivery, properties: { chat: body.chat.id } });
 * return new Response('accepted', { status: 202 });
 */
export type EmitEvent = (event: ConnectorEvent) => Promise<void>;

/** Confirms that the event is on disk and will be handled, even after a crash. */
export interface ConnectorAcceptance {
  readonly agent: string;
  readonly instanceKey: string;
  readonly turnId: string;
  readonly traceId: string;
  /** True when an event with this id was accepted before, so this event was not added again. */
  readonly duplicate: boolean;
}

/** The outcome of an event's turn. */
export interface ConnectorAnswer extends ConnectorAcceptance {
  /** The text of the answer; empty when the turn produced none. */
  readonly response: string;
  readonly finishReason: TurnResult['finishReason'];
  /** True when the response reached a token limit and is incomplete; absent otherwise. */
  readonly truncated?: boolean;
  /** The answer as JSON, if the event or the agent demanded a schema; absent otherwise. */
  readonly output?: JsonValue;
  /** The error of a failed turn. */
  readonly error?: TurnError;
  /** The tokens of the turn's own model calls and of the agents that it called. */
  readonly usage: TokenUsage;
  /** The part of `usage` that called agents used; absent if there is none. */
  readonly called?: TokenUsage;
}

export interface ConnectorAskOptions {
  /** When this signal aborts, the promise rejects with the signal's reason, and the turn continues. */
  readonly signal?: AbortSignal;
  /** If true, aborting `signal` also cancels the turn, whether it is running or queued. */
  readonly cancelOnAbort?: boolean;
  /** When this signal aborts, the promise rejects with the signal's reason, and the turn continues in any case. */
  readonly left?: AbortSignal;
  /** Called once when the event is on disk, before the first delta. */
  readonly onAccepted?: (acceptance: ConnectorAcceptance) => void;
  /**
   * Called with each delta of the turn, unless a layer of the agent buffers. Deltas may be lost, but the answer is
   * complete.
   */
  readonly onDelta?: (delta: TurnDelta) => void;
}

/**
 * Passes an event to the swarm, as `emit` does, and waits for the end of its turn.
 *
 * **When it resolves** — when the turn is over, also after a failure or a cancel; see `finishReason`.
 * **Rules** — the turn is independent of this process: if the process ends, the turn continues. An event with a known
 * `id` is not added again: the ask waits for the turn of the first event, or gets its answer. At most 256 asks wait at
 * once.
 * **Errors** — the errors of `emit`, if the event was not accepted; with too many waiting asks `E_CALLS_FULL`, which is
 * `retryable`. After `onAccepted`: `E_AGENT_START` when the agent does not start, `E_SWARM_STOPPED` when the swarm
 * stops first, `E_IPC_CLOSED` when the connection to the swarm is lost. The turn still continues when it can, and
 * asking again with the same `id` returns its answer. If the answer is no longer known, the result has the error
 * `E_TURN_FORGOTTEN`. A callback that throws is logged, without further effect.
 *
 * @example
 * const { response } = await ctx.ask({ name: 'question', input }, { signal: request.signal });
 * return new Response(response);
 */
export type AskSwarm = (event: ConnectorEvent, options?: ConnectorAskOptions) => Promise<ConnectorAnswer>;

export interface ConnectorContext<Config = JsonObject> {
  readonly emit: EmitEvent;
  readonly ask: AskSwarm;
  /** The questions that agents ask people. Empty unless the Connection has `answersQuestions: true`. */
  readonly questions: ConnectorQuestions;
  /** The Connection's `config`. */
  readonly config: Config;
  /** The Connection's `secrets`, resolved. Secrets of 8 or more characters are masked in logs and errors. */
  readonly secrets: Readonly<Record<string, string>>;
  /** The agents that the Connection's rules route to, each once, in the order of the rules. */
  readonly agents: readonly string[];
  /** A folder for the connector's own files. The files are still there when this Connection starts again. */
  readonly folder: string;
  /** A logger with the methods of `console`. Each line carries the connection's name, and secrets are masked. */
  readonly logger: Console;
  /** Aborts when the connector must stop. Then accept nothing new, and finish the work you have accepted. */
  readonly signal: AbortSignal;
}

/**
 * The entry of a connector: listens to the outside and emits events.
 *
 * **When it fires** — once, when the process of its Connection starts; again in a new process after a crash.
 * **Rules** — resolve the promise when you listen, or leave it pending until `signal` aborts. The process continues in
 * both cases. After a second without a failure the connector counts as listening. When `signal` aborts, stop listening
 * and settle the promise. If the promise resolved to a function, the runtime calls the function then. The process ends
 * when the promise, that function, every emit and every ask are settled, or when the grace period is over.
 * **Errors** — a throw or an uncaught error ends the process; the runtime restarts the process, with backoff after
 * repeated failures.
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
