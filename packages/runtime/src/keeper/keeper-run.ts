/**
 * One keeper, from the first message of the orchestrator to the end of its process.
 *
 * Invariants:
 * 1. `ready` is sent when the keeper listens at its socket.
 * 2. The process ends in one of three ways: drained (exit code 0), failed (`failed`, exit code 1), or at once because
 *    the orchestrator has exited.
 * 3. Secrets are masked in everything that is sent.
 */
import { type Cleanup, GoondanError } from '@goondan/types';
import type { KeeperStart } from '../config/keeper-start.ts';
import type { Channel } from '../ipc/channel/channel.ts';
import { toFrameError } from '../ipc/check/frame-error.ts';
import type { FromKeeper } from '../ipc/from-keeper.ts';
import { ProcessEnd } from '../ipc/process-end.ts';
import type { ToKeeper } from '../ipc/to-keeper.ts';
import { createLogger } from '../log/create-logger.ts';
import { cutMessage } from '../log/log-sink.ts';
import { type Mask, maskSecrets } from '../log/mask-secrets.ts';
import { type Clock, waitAtMost } from '../ports/clock.ts';
import type { LogLevel } from '../ports/log-line.ts';
import { boundExtensionStatus } from '../log/bound-extension-status.ts';
import { loadKeeper } from './load-keeper.ts';

export interface KeeperDeps {
  readonly channel: Channel<FromKeeper, ToKeeper>;
  readonly clock: Clock;
  /** The variables of the process. */
  readonly environment: Record<string, string | undefined>;
  /** Ends the process. */
  readonly exit: (code: number) => void;
}

export class KeeperRun {
  readonly #end: ProcessEnd<FromKeeper>;
  #mask: Mask = (text) => text;
  #secrets: readonly string[] = [];
  #plan: KeeperStart | undefined;
  #workdir = '';
  /** The promise of the cleanup, which the keeper's function returned. */
  #keeping: Promise<Cleanup> | undefined;
  #ending: Promise<void> | undefined;

  constructor(private readonly deps: KeeperDeps) {
    this.#end = new ProcessEnd(deps.channel, deps.clock, deps.exit);
  }

  /** Starts to handle messages. */
  begin(): void {
    this.#end.watch();
    this.deps.channel.onRefused((error) => void this.fail(error));
    this.deps.channel.onMessage((message) => this.#hear(message));
  }

  /** Closes the connection, and ends the process within `graceMs`. */
  drain(graceMs: number): Promise<void> {
    return (this.#ending ??= this.#drain(graceMs));
  }

  /** Handles an error that the keeper did not catch. */
  async fail(thrown: unknown): Promise<void> {
    if (this.#ending !== undefined) return;
    this.#ending = this.#fail(thrown);
    await this.#ending;
  }

  #hear(message: ToKeeper): void {
    switch (message.type) {
      case 'start':
        // Safe: our own orchestrator made the plan.
        return void this.#start(message.plan as unknown as KeeperStart);
      case 'surroundings':
        return this.#move(message);
      case 'ping':
        return this.#tell({ type: 'pong', n: message.n });
      case 'drain':
        return void this.drain(message.graceMs);
    }
  }

  async #start(plan: KeeperStart): Promise<void> {
    if (this.#plan !== undefined) return;
    this.#plan = plan;
    this.#secrets = plan.secrets;
    this.#mask = maskSecrets(plan.secrets);
    const { clock } = this.deps;
    const { extension: name, config, socket, bundleFolder } = plan;
    this.#workdir = plan.workdir;
    const workdir = () => this.#workdir;
    try {
      const keep = await loadKeeper(plan);
      this.#keeping = Promise.try(keep, {
        name,
        config,
        socket,
        bundleFolder,
        get workdir() {
          return workdir();
        },
        logger: createLogger(
          (level, message) => this.#log(level, message),
          () => clock.elapsed(),
        ),
        report: (status) => this.#tell({ type: 'status', status: boundExtensionStatus(status, this.#mask) }),
      });
      await this.#keeping;
      this.#tell({ type: 'ready' });
    } catch (error) {
      await this.fail(error);
    }
  }

  /** Takes another environment and working folder. Earlier secrets stay masked, because the server may still use them. */
  #move({ environment, unset, workdir, secrets }: Extract<ToKeeper, { type: 'surroundings' }>): void {
    for (const name of unset) delete this.deps.environment[name];
    for (const [name, value] of Object.entries(environment)) {
      if (typeof value === 'string') this.deps.environment[name] = value;
    }
    this.#workdir = workdir;
    this.#secrets = [...new Set([...this.#secrets, ...secrets])];
    this.#mask = maskSecrets(this.#secrets);
  }

  async #drain(graceMs: number): Promise<void> {
    await waitAtMost(this.deps.clock, graceMs, this.#cleanUp());
    await this.#end.after({ type: 'drained' }, 0);
  }

  async #cleanUp(): Promise<void> {
    try {
      const cleanUp = await this.#keeping;
      await cleanUp?.();
    } catch (error) {
      this.#log('warn', `Its clean-up failed: ${toFrameError(error, 'E_UNEXPECTED').message}`);
    }
  }

  async #fail(thrown: unknown): Promise<void> {
    const { code, message } = toFrameError(thrown, 'E_MCP_CONNECT');
    const about = `The keeper of Extension/${this.#plan?.extension ?? '?'} failed: ${message}`;
    const text = cutMessage(this.#mask(GoondanError.is(thrown) ? message : about));
    await this.#end.after({ type: 'failed', error: { code, message: text } }, 1);
  }

  /** Sends a log line. The line does not name the agent, because the orchestrator knows the owner of the channel. */
  #log(level: LogLevel, text: string): void {
    const time = this.deps.clock.now().toISOString();
    this.#tell({ type: 'log', line: { time, level, message: cutMessage(this.#mask(text)) } });
  }

  #tell(message: FromKeeper): void {
    // If sending fails, the orchestrator has exited, and this process ends too.
    this.deps.channel.send(message).catch(() => undefined);
  }
}
