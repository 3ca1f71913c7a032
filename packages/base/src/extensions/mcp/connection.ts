/**
 * Keeps one server connected.
 *
 * 1. Only one attempt to connect runs at a time, and callers wait for that attempt.
 * 2. The server counts as connected when its tools are listed and judged. No tool is called before.
 * 3. If a supervised connection breaks, it reconnects in the background, with backoff (`retry-delay.ts`). If the new
 *    connection soon breaks again, that counts as a failed attempt.
 * 4. A caller does not wait for the backoff. Its call triggers an attempt at once, but at most one attempt per
 *    `GAP_MS`. If a person has to sign in, it triggers one each time, because the person may have done so.
 * 5. A call that the server may have started is not repeated, unless the caller allows it.
 * 6. After `close` nothing is started.
 */
import { GoondanError } from '@goondan/types';
import { cleanText } from '../../text/clean-text.ts';
import type { Clock } from './clock.ts';
import type { ClientEvents, LastWords, ListedTool, McpClient, ServerAbilities } from './mcp-client.ts';
import { McpFailure, toError } from './mcp-failure.ts';
import type { McpSettings } from './mcp-settings.ts';
import { retryDelay } from './retry-delay.ts';
import type { ServerHealth } from './server-health.ts';
import { describeTarget, type ServerTarget } from './server-target.ts';
import { unlessAborted } from './unless-aborted.ts';

export interface ConnectionDeps {
  readonly clock: Clock;
  readonly logger: Pick<Console, 'info' | 'warn' | 'debug'>;
  readonly open: (events: ClientEvents) => Promise<McpClient>;
  readonly health: ServerHealth;
  /** True if a keeper runs the server, and this connection only joins it. */
  readonly isKept?: boolean;
  /** Called with the server's current tools. If it throws, the attempt to connect fails. */
  readonly onListed: (tools: readonly ListedTool[], abilities: ServerAbilities) => Promise<void>;
}

/** The minimum time between two attempts to connect. */
const GAP_MS = 1_000;
/** A connection that lasted this long counts as healthy. */
const HEALTHY_MS = 10_000;
/** The minimum time between two requests for the tool list, when the server reports many changes. */
const LIST_GAP_MS = 200;
/** How long a step waits for a tool list that is being read. */
const SETTLE_MS = 2_000;

export class Connection {
  #phase: 'idle' | 'connected' | 'closed' = 'idle';
  #client: McpClient | undefined;
  #target: ServerTarget | undefined;
  #abilities: ServerAbilities = { tools: false, resources: false, prompts: false };
  #attempt: Promise<void> | undefined;
  #failures = 0;
  #lastFailure: { readonly error: GoondanError; readonly at: number } | undefined;
  #connectedAt = 0;
  #callOffRetry = () => {};
  #listing: Promise<void> | undefined;
  #hasChangedAgain = false;
  #examinedAt = -Infinity;

  /** A `stateful` connection is supervised: if it breaks, it reconnects. */
  constructor(
    private readonly name: string,
    private readonly settings: Pick<McpSettings, 'timeouts' | 'mode'>,
    private readonly deps: ConnectionDeps,
  ) {}

  get isConnected(): boolean {
    return this.#phase === 'connected';
  }

  /** Sets the target of the connection. If the target changes, the old connection is closed. */
  async aim(target: ServerTarget): Promise<void> {
    const isSame = JSON.stringify(target) === JSON.stringify(this.#target);
    if (isSame) return;
    const isNew = this.#target === undefined;
    this.#target = target;
    this.deps.health.aimedAt(describeTarget(target));
    if (isNew) return;
    this.deps.logger.info('mcp.moved: the transport of the server has changed.');
    this.#failures = 0;
    this.#lastFailure = undefined;
    await this.release();
  }

  /** Resolves when the server is connected. **Errors** — `E_MCP_CONNECT`, `E_MCP_TIMEOUT`, `E_MCP_CALL`. */
  async need(signal?: AbortSignal): Promise<void> {
    if (this.#phase === 'connected') return;
    const { clock } = this.deps;
    const last = this.#lastFailure;
    const isEarly = last !== undefined && !waitsForPerson(last.error) && clock.elapsed() - last.at < GAP_MS;
    if (this.#attempt === undefined && isEarly) throw last.error;
    await unlessAborted(this.#connect(), signal);
  }

  /** Connects in the background if the server is not connected. Does nothing during the backoff after a failure. */
  wake(): void {
    if (this.#phase !== 'idle' || this.#attempt !== undefined || this.isResting) return;
    this.#connect().catch(() => undefined);
  }

  /** True when an attempt to connect failed recently. A turn then does not wait for another attempt. */
  get isResting(): boolean {
    const last = this.#lastFailure;
    if (last === undefined || this.#phase === 'connected' || waitsForPerson(last.error)) return false;
    return this.deps.clock.elapsed() - last.at < (retryDelay(this.#failures) ?? LONGEST_REST_MS);
  }

  /**
   * Connects if necessary, and runs a request. `mayRepeat`: the request may safely be sent twice. **Errors** — the
   * errors of `need` and of `work`.
   */
  async ask<Value>(
    work: (client: McpClient) => Promise<Value>,
    { signal, mayRepeat = false }: { readonly signal: AbortSignal; readonly mayRepeat?: boolean },
  ): Promise<Value> {
    for (let isFirst = true; ; isFirst = false) {
      await this.need(signal);
      await this.settled();
      try {
        // The cast is safe: a connected server has a client.
        return await work(this.#client as McpClient);
      } catch (thrown) {
        if (!(thrown instanceof McpFailure)) throw thrown;
        if (thrown.endsConnection) this.#lose(thrown.message);
        const isRepeatable = thrown.leftNothing || (mayRepeat && thrown.kind === 'broken');
        if (!isFirst || !isRepeatable) throw this.#toError(thrown);
      }
    }
  }

  /** Resolves when no tool list is being read, or after `SETTLE_MS`. */
  async settled(): Promise<void> {
    if (this.#listing === undefined) return;
    const late = Promise.withResolvers<void>();
    const callOff = this.deps.clock.after(SETTLE_MS, () => late.resolve());
    await Promise.race([this.#listing, late.promise]).finally(callOff);
  }

  /** Closes the connection; the next call connects again. */
  async release(): Promise<void> {
    this.#callOffRetry();
    await this.#attempt?.catch(() => undefined);
    if (this.#phase === 'connected') this.#phase = 'idle';
    await this.#client?.close();
    if (this.#lastFailure === undefined) this.deps.health.released();
  }

  async close(): Promise<void> {
    this.#phase = 'closed';
    this.#callOffRetry();
    // The client is closed without waiting for a running attempt, because closing the client ends the attempt.
    await this.#client?.close();
    await this.#attempt?.catch(() => undefined);
  }

  #connect(): Promise<void> {
    this.#callOffRetry();
    this.#attempt ??= this.#tryOnce().finally(() => void (this.#attempt = undefined));
    return this.#attempt;
  }

  async #tryOnce(): Promise<void> {
    const { clock, logger, health, open, onListed, isKept = false } = this.deps;
    const { timeouts } = this.settings;
    try {
      const target = this.#target;
      if (target === undefined || this.#phase === 'closed') throw new McpFailure('unreached', 'it is closed.');
      health.connecting();
      this.#client ??= await open(this.#events());
      if (this.#isClosed()) throw new McpFailure('unreached', 'it is closed.');
      logger.info(`mcp.${isKept ? 'attaching' : 'starting'}: ${describeTarget(target)}`);
      this.#abilities = await this.#client.connect(target, { timeoutMs: timeouts.connectMs });
      this.#hasChangedAgain = false;
      await onListed(await this.#list(this.#client), this.#abilities);
      if (this.#isClosed()) throw new McpFailure('unreached', 'it is closed.');
      this.#phase = 'connected';
      this.#connectedAt = clock.elapsed();
      this.#lastFailure = undefined;
      health.connected();
      if (this.#hasChangedAgain) this.#listAgain('its tools changed while they were listed.');
    } catch (thrown) {
      const error = this.#toError(thrown);
      this.#failures += 1;
      this.#lastFailure = { error, at: clock.elapsed() };
      await this.#client?.close();
      if (!this.#isClosed()) health.failed(`${error.message} (${error.code})`, this.#lastWords());
      throw error;
    }
  }

  async #list(client: McpClient): Promise<readonly ListedTool[]> {
    return this.#abilities.tools ? client.listTools({ timeoutMs: this.settings.timeouts.listMs }) : [];
  }

  #events(): ClientEvents {
    return {
      onToolsChanged: () => this.#listAgain('the server says that its tools have changed.'),
      onClosed: () => this.#lose('the server closed the connection.'),
      onTrouble: (problem) => this.#examine(problem),
      onRefused: (problem) => this.deps.logger.warn(`mcp.refused: a request of the server: ${cleanText(problem, 500)}`),
    };
  }

  /** Sends a request to find out whether the connection is lost. */
  #examine(problem: string): void {
    const now = this.deps.clock.elapsed();
    if (this.#phase !== 'connected' || now - this.#examinedAt < GAP_MS) return;
    this.#examinedAt = now;
    this.#listAgain(`an unexpected error: ${problem}`);
  }

  #listAgain(reason: string): void {
    this.#hasChangedAgain = true;
    if (this.#phase !== 'connected' || this.#listing !== undefined) return;
    this.deps.logger.debug(`mcp.listed: listed again, because ${reason}`);
    this.#listing = this.#listUntilQuiet().finally(() => void (this.#listing = undefined));
  }

  async #listUntilQuiet(): Promise<void> {
    try {
      while (this.#hasChangedAgain && this.#phase === 'connected' && this.#client !== undefined) {
        this.#hasChangedAgain = false;
        await this.deps.onListed(await this.#list(this.#client), this.#abilities);
        if (this.#hasChangedAgain) await this.#pause(LIST_GAP_MS);
      }
    } catch (thrown) {
      const { message } = this.#toError(thrown);
      this.deps.logger.warn(`mcp.failed: its tools could not be listed again: ${message}`);
      // The tool list may be out of date, and the server would send no further notice. A new connection reads the list
      // again.
      this.#lose(message);
    }
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.deps.clock.after(ms, resolve));
  }

  #lose(problem: string): void {
    if (this.#phase !== 'connected') return;
    const { clock, logger, health } = this.deps;
    this.#phase = 'idle';
    this.#failures = clock.elapsed() - this.#connectedAt >= HEALTHY_MS ? 0 : this.#failures + 1;
    const delay = this.settings.mode === 'stateful' ? retryDelay(this.#failures) : undefined;
    logger.warn(
      `mcp.lost: ${problem} ${delay === undefined ? 'It is connected again when it is needed.' : `Next attempt in ${delay} ms.`}`,
    );
    health.lost(problem, this.#lastWords(), delay !== undefined);
    void this.#client?.close();
    if (delay !== undefined) this.#retryAfter(delay);
  }

  #lastWords(): LastWords {
    return this.#client?.lastWords() ?? { exit: '', lines: [] };
  }

  #retryAfter(delay: number): void {
    this.#callOffRetry = this.deps.clock.after(delay, () => void this.#retry());
  }

  async #retry(): Promise<void> {
    try {
      await this.#connect();
    } catch (error) {
      const { message, code } = this.#toError(error);
      this.deps.logger.warn(`mcp.failed: ${message}`);
      const next = retryDelay(this.#failures);
      if (next === undefined || this.#phase !== 'idle') return;
      this.deps.health.failed(`${message} (${code})`, this.#lastWords(), true);
      this.#retryAfter(next);
    }
  }

  #isClosed(): boolean {
    return this.#phase === 'closed';
  }

  #toError(thrown: unknown): GoondanError {
    if (GoondanError.is(thrown)) return thrown;
    if (thrown instanceof McpFailure) return toError(this.name, thrown);
    const message = thrown instanceof Error ? thrown.message : String(thrown);
    return toError(this.name, new McpFailure('unreached', message, thrown));
  }
}

/** The backoff after the last background attempt has failed. */
const LONGEST_REST_MS = 30_000;

/** True if the next attempt may succeed at any time, because a person ends the problem. */
function waitsForPerson({ code }: GoondanError): boolean {
  return code === 'E_MCP_SIGN_IN' || code === 'E_MCP_TOKENS';
}
