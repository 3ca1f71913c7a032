/**
 * One connector, from the first message of the orchestrator to the end of its process.
 *
 * Invariants:
 * 1. `ready` is sent when the connector's promise resolves, or `LISTENING_AFTER_MS` after the call if the promise is
 *    still pending. A resolved promise does not end the process, because the connector has registered its listeners.
 * 2. The process ends in one of three ways: drained (exit code 0), failed (`failed`, exit code 1), or at once because
 *    the orchestrator has exited.
 * 3. During a drain nothing counts as a failure, because an aborted connector may reject.
 * 4. Secrets are masked in everything that is sent.
 * 5. In a trial, the connector is loaded but not called. In this case, `ready` means that the connector could be
 *    called.
 */
import { type Cleanup, type ConnectorContext, GoondanError, type JsonObject } from '@goondan/types';
import type { ConnectorStart } from '../config/connector-start.ts';
import { suggestionOf } from '../config/load-problem.ts';
import type { Channel } from '../ipc/channel/channel.ts';
import { maskFrameError, toFrameError } from '../ipc/check/frame-error.ts';
import { ConnectorAsker } from '../ipc/connector-asks.ts';
import { connectorEmitter } from '../ipc/connector-events.ts';
import { FileUploads } from '../ipc/connector-files.ts';
import { connectorDoor } from '../ipc/connector-questions.ts';
import type { FromConnector } from '../ipc/from-connector.ts';
import { ProcessEnd } from '../ipc/process-end.ts';
import type { ToConnector } from '../ipc/to-connector.ts';
import { aboutThrown } from '../log/about-thrown.ts';
import { createLogger } from '../log/create-logger.ts';
import { locateIn, type LocateThrown } from '../log/locate-thrown.ts';
import { cutMessage } from '../log/log-sink.ts';
import type { LogLevel } from '../ports/log-line.ts';
import { type Mask, maskSecrets } from '../log/mask-secrets.ts';
import { type Clock, sleep, waitAtMost } from '../ports/clock.ts';
import type { Ids } from '../ports/ids.ts';
import { Asks } from './asks.ts';
import { checkConfig } from './check-config.ts';
import { eventChecker } from './check-event.ts';
import { Emits } from './emits.ts';
import { loadConnector } from './load-connector.ts';
import { QuestionMirror } from './question-mirror.ts';
import { sendWithFiles } from './send-with-files.ts';

export interface ConnectorDeps {
  readonly channel: Channel<FromConnector, ToConnector>;
  readonly clock: Clock;
  readonly ids: Ids;
  /** The working folder of the Connection. */
  readonly folder: string;
  /** Ends the process. */
  readonly exit: (code: number) => void;
}

/** A connector that has not failed after this time counts as listening. */
const LISTENING_AFTER_MS = 1_000;
/**
 * The time that the process waits after the last event was accepted, because the connector may still have to answer the
 * event's sender.
 */
const LAST_ANSWERS_MS = 50;
/**
 * Open asks are rejected this long before the end of the grace, so that the connector can still answer its own callers.
 */
const TOLD_BEFORE_MS = 500;

export class ConnectorRun {
  readonly #end: ProcessEnd<FromConnector>;
  readonly #emits: Emits;
  readonly #asks: Asks;
  readonly #questions: QuestionMirror;
  readonly #stopping = new AbortController();
  #mask: Mask = (text) => text;
  #locate: LocateThrown = () => ({});
  #plan: ConnectorStart | undefined;
  /** The promise that the connector's function returned. */
  #listening: Promise<void | Cleanup> | undefined;
  #isReady = false;
  #ending: Promise<void> | undefined;

  constructor(private readonly deps: ConnectorDeps) {
    const { channel, clock, ids } = deps;
    this.#end = new ProcessEnd(channel, clock, deps.exit);
    const onMalformed = ({ message }: GoondanError) => this.#log('warn', message, 'event.refused');
    const check = eventChecker({ clock, ids, onMalformed });
    const onThrown = (error: unknown) => this.#logThrown('error', 'A callback failed', error, 'callback.failed');
    const withFiles = sendWithFiles(new FileUploads(channel));
    this.#emits = new Emits(connectorEmitter(channel), check, withFiles);
    this.#asks = new Asks(new ConnectorAsker(channel), check, onThrown, withFiles);
    this.#questions = new QuestionMirror(connectorDoor(channel), onThrown);
  }

  /** Starts to handle messages. */
  begin(): void {
    this.#end.watch();
    this.deps.channel.onRefused((error) => void this.fail(error));
    this.deps.channel.onMessage((message) => this.#hear(message));
  }

  /** Stops listening, finishes received events, and ends the process, within `graceMs`. */
  drain(graceMs: number): Promise<void> {
    this.#stopping.abort();
    return (this.#ending ??= this.#drain(graceMs));
  }

  /** Handles an error that the connector did not catch. */
  async fail(thrown: unknown): Promise<void> {
    const { signal } = this.#stopping;
    if (signal.aborted && thrown === signal.reason) return;
    if (signal.aborted || this.#ending !== undefined) {
      return this.#logThrown('warn', `${this.#name} failed`, thrown, 'connector.failed');
    }
    this.#ending = this.#fail(thrown);
    await this.#ending;
  }

  #hear(message: ToConnector): void {
    switch (message.type) {
      case 'start':
        // Safe: our own orchestrator made the plan.
        return void this.#start(message.plan as unknown as ConnectorStart);
      case 'ping':
        return this.#tell({ type: 'pong', n: message.n });
      case 'drain':
        return void this.drain(message.graceMs);
      case 'dropped':
        return this.#log(
          'warn',
          `${message.counts.delta} deltas were dropped: there were too many at once.`,
          'deltas.dropped',
        );
      // Handled by `Emits`, `Asks`, `QuestionMirror` and `FileUploads`.
      case 'question.changed':
      case 'question.taken':
      case 'question.refused':
      case 'file.taken':
      case 'file.refused':
      case 'connector.accepted':
      case 'connector.refused':
      case 'ask.accepted':
      case 'ask.delta':
      case 'ask.ended':
    }
  }

  async #start(plan: ConnectorStart): Promise<void> {
    if (this.#plan !== undefined) return;
    this.#plan = plan;
    this.#mask = maskSecrets([...Object.values(plan.secrets), ...(plan.masked ?? [])]);
    this.#locate = locateIn([plan.root], this.#mask);
    try {
      await checkConfig(plan);
      const connector = await loadConnector(plan);
      if (this.#stopping.signal.aborted) return;
      if (plan.isTrial === true) return this.#tell({ type: 'ready' });
      this.#listening = Promise.try(connector, this.#contextFor(plan));
      await waitAtMost(this.deps.clock, LISTENING_AFTER_MS, this.#listening);
      this.#isReady = true;
      this.#tell({ type: 'ready' });
      await this.#listening;
    } catch (error) {
      await this.fail(error);
    }
  }

  #contextFor({ config, secrets, agents = [], answersQuestions = false }: ConnectorStart): ConnectorContext {
    const { clock, folder } = this.deps;
    this.#questions.allow(answersQuestions);
    return {
      emit: this.#emits.emit,
      ask: this.#asks.ask,
      questions: this.#questions,
      config,
      secrets,
      agents,
      folder,
      logger: createLogger(
        (level, message) => this.#log(level, message),
        () => clock.elapsed(),
      ),
      signal: this.#stopping.signal,
    };
  }

  async #drain(graceMs: number): Promise<void> {
    const { clock } = this.deps;
    const callOff = clock.after(graceMs - Math.min(TOLD_BEFORE_MS, graceMs / 2), () => this.#asks.giveUp());
    await waitAtMost(clock, graceMs, this.#settled()).finally(callOff);
    await this.#end.after({ type: 'drained' }, 0);
  }

  async #settled(): Promise<void> {
    // A failure was already reported when it happened.
    const cleanUp = await this.#listening?.catch(() => undefined);
    if (typeof cleanUp === 'function') await Promise.try(cleanUp).catch((error: unknown) => this.fail(error));
    do {
      await Promise.all([this.#emits.settled(), this.#asks.settled(), this.#questions.settled()]);
      await sleep(this.deps.clock, LAST_ANSWERS_MS);
    } while (this.#emits.underWay + this.#asks.underWay + this.#questions.underWay > 0);
  }

  async #fail(thrown: unknown): Promise<void> {
    const failed = toFrameError(this.#explain(toShowable(thrown)), 'E_CONNECTOR_ENDED');
    this.#logThrown('error', `${this.#name} failed`, thrown, 'connector.failed', { code: failed.code });
    const { place } = this.#locate(thrown);
    const error = maskFrameError(failed, (text) => cutMessage(this.#mask(text)));
    await this.#end.after({ type: 'failed', error: place === undefined ? error : { ...error, place } }, 1);
  }

  /** Returns a loading error unchanged, and wraps any other error as the connector's own. */
  #explain(error: unknown): GoondanError {
    if (GoondanError.is(error) && aboutLoading.has(error.code)) return error;
    const { code, message } = toFrameError(error, 'E_CONNECTOR_ENDED');
    const reason = GoondanError.is(error) ? `${message} (${code})` : message;
    const what = this.#name;
    const about = { ...suggestionOf(error), cause: error };
    return this.#isReady
      ? new GoondanError('E_CONNECTOR_ENDED', `${what} failed: ${reason}`, about)
      : new GoondanError('E_CONNECTOR_START', `${what} failed before it listened: ${reason}`, about);
  }

  get #name(): string {
    return `Connector/${this.#plan?.connector ?? '?'}`;
  }

  #logThrown(level: LogLevel, what: string, thrown: unknown, event: string, data: JsonObject = {}): void {
    this.#log(level, `${what}: ${describeThrown(thrown)}`, event, aboutThrown(this.#locate(thrown), data));
  }

  /**
   * Sends a log line. The line does not name the connection, because the orchestrator knows the owner of the channel.
   */
  #log(level: LogLevel, text: string, event?: string, about: ReturnType<typeof aboutThrown> = {}): void {
    const time = this.deps.clock.now().toISOString();
    const message = cutMessage(this.#mask(text));
    this.#tell({ type: 'log', line: { time, level, message, ...(event === undefined ? {} : { event }), ...about } });
  }

  #tell(message: FromConnector): void {
    // If sending fails, the orchestrator has exited, and this process ends too.
    this.deps.channel.send(message).catch(() => undefined);
  }
}

const aboutLoading: ReadonlySet<string> = new Set(['E_CONNECTOR_CONFIG', 'E_CONNECTOR_LOAD', 'E_PATH_OUTSIDE']);

/**
 * Returns the thrown value if it can be read, or else an error that says that it cannot be shown. Reading a foreign
 * object may throw, and then the failure would not be reported.
 */
function toShowable(thrown: unknown): unknown {
  try {
    toFrameError(thrown, 'E_CONNECTOR_ENDED');
    return thrown;
  } catch {
    return new Error(`it threw an ${typeof thrown} that cannot be shown`);
  }
}

/** Returns a text like `RangeError: port taken`. */
function describeThrown(thrown: unknown): string {
  const shown = toShowable(thrown);
  const { message } = toFrameError(shown, 'E_CONNECTOR_ENDED');
  if (GoondanError.is(shown)) return `${shown.code}: ${message}`;
  return shown instanceof Error ? `${shown.name}: ${message}` : message;
}
