/** What a connector module exports and what it is given. */
import type { JsonObject } from './json.ts';

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

export interface ConnectorContext<Config = JsonObject> {
  readonly emit: EmitEvent;
  /** The Connection's `config`. */
  readonly config: Config;
  /** The Connection's `secrets`, resolved; those of 8 characters and more are masked in logs and errors. */
  readonly secrets: Readonly<Record<string, string>>;
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
 * either way. After a second without a failure it counts as listening. When `signal` aborts, stop listening and settle:
 * the process ends when the promise and every emit are settled, or when the grace period is over.
 * **Errors** — a throw, and an error nobody catches, end the process; it is started again, with a growing delay when
 * that goes on.
 *
 * @example
 * const connector: Connector<{ port: number }> = async ({ emit, config, signal }) => {
 *   const server = Bun.serve({
 *     port: config.port,
 *     async fetch(request) {
 *       const id = request.headers.get('x-delivery-id');
 *       await emit({ name: 'message', input: await request.text(), ...(id && { id }) });
 *       return new Response('accepted', { status: 202 });
 *     },
 *   });
 *   signal.addEventListener('abort', () => void server.stop());
 * };
 * export default connector;
 */
export type Connector<Config = JsonObject> = (ctx: ConnectorContext<Config>) => Promise<void>;

export interface ConnectorModule {
  default: Connector;
}
