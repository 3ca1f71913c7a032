/**
 * Runs a shared process: many conversations of one agent, each with a seat and a channel of its own. Each conversation
 * runs as in a process of its own (`run-agent-process.ts`); this file does what concerns the process as a whole.
 *
 * 1. A conversation that ends leaves its seat, and the process goes on. A conversation that failed is released first: its
 *    extensions clean up, and its lock is free. If it cannot be released, the process ends.
 * 2. An uncaught error ends the process, because it may come from any conversation, and so does a rejected frame, because
 *    it may be for any. The orchestrator then continues each interrupted turn in a process of its own.
 * 3. The process ends when the orchestrator asks it to, or has exited.
 * 4. Conversations that take the same change share the modules that it loads.
 * 5. All conversations write through one store: the files of the workspace are opened, and its folders synced, once.
 */
import type { ChannelEnd } from '../../ipc/channel/channel.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { PROCESS_SEAT, type Seated } from '../../ipc/seated-language.ts';
import { SeatChannel } from '../../ipc/seat-channel.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { AgentStore } from '../../store/store.ts';
import type { JournalLocation } from '../../workspace/layout/instance-paths.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';
import { waitAtMost } from '../../ports/clock.ts';
import { forgetModules } from '../change/forget-modules.ts';
import type { AgentChannel, ProcessHost } from './process-host.ts';
import { ProcessLog } from './process-log.ts';
import { type RunningConversation, runAgentProcess } from './run-agent-process.ts';

/** The channel of a shared process to the orchestrator. */
export type SharedChannel = ChannelEnd<Seated<FromAgent>, Seated<ToAgent>>;

/** The maximum time to release a conversation that failed. */
const RELEASE_MS = 5_000;
/** The maximum time to write unsaved data and to send the last messages. */
const LAST_WORDS_MS = 1_000;

export function runSharedProcess(channel: SharedChannel, host: ProcessHost): void {
  new SharedProcess(channel, host).run();
}

interface Seat {
  readonly channel: SeatChannel<FromAgent, ToAgent>;
  readonly conversation: RunningConversation;
}

class SharedProcess {
  readonly #seats = new Map<number, Seat>();
  readonly #leaving = new Set<number>();
  readonly #terminators = new Map<number, () => void>();
  readonly #forgotten = new Set<string>();
  readonly #done = new Set<string>();
  readonly #log: ProcessLog;
  #store: Promise<AgentStore> | undefined;
  #isEnding = false;

  constructor(
    private readonly channel: SharedChannel,
    private readonly host: ProcessHost,
  ) {
    const own: AgentChannel = new SeatChannel((message) => this.#send(PROCESS_SEAT, message));
    this.#log = new ProcessLog(own, host.clock);
  }

  run(): void {
    this.host.onUncaught((thrown) => this.#crash('process.uncaught', 'Uncaught error', thrown));
    this.host.onTerminate(() => {
      for (const terminate of this.#terminators.values()) terminate();
    });
    this.channel.onClose(() => {
      if (!this.#isEnding) this.host.exit(1);
    });
    this.channel.onRefused((error) =>
      this.#crash('frame.refused', 'A message of the orchestrator was rejected', error),
    );
    this.channel.onMessage((frame) => {
      if ('message' in frame) this.#hear(frame.seat, frame.message);
    });
  }

  #hear(seat: number, message: ToAgent): void {
    if (seat === PROCESS_SEAT) return this.#hearOwn(message);
    if (message.type === 'start' && !this.#seats.has(seat)) this.#open(seat);
    // A message to a seat that was left needs no answer: the orchestrator learns of the end from `exit`.
    this.#seats.get(seat)?.channel.deliver(message);
  }

  #hearOwn(message: ToAgent): void {
    if (message.type === 'ping') {
      // If a pong cannot be sent, the orchestrator treats the process as blocked.
      return void this.#send(PROCESS_SEAT, { type: 'pong', n: message.n }).catch(() => undefined);
    }
    // Sent when no conversation is left.
    if (message.type === 'drain') void this.#end(0);
  }

  #open(seat: number): void {
    const channel = new SeatChannel<FromAgent, ToAgent>((message) => this.#send(seat, message));
    const conversation = runAgentProcess(channel, this.#hostFor(seat));
    this.#seats.set(seat, { channel, conversation });
  }

  /** Returns the process as the code of one conversation sees it. */
  #hostFor(seat: number): ProcessHost {
    const { host } = this;
    return {
      ...host,
      moveTo: (folder) => this.#once('folder', () => host.moveTo(folder)),
      warmUp: async () => undefined,
      openStore: (location) => this.#openStore(location),
      answerOwnPackages: (folder) => this.#once('packages', () => host.answerOwnPackages(folder)),
      watchDraws: () => this.#once('draws', () => host.watchDraws()),
      onTerminate: (listener) => void this.#terminators.set(seat, listener),
      onUncaught: () => undefined,
      running: () => host.running?.(seat),
      exit: (code) => void this.#leave(seat, code),
      shared: { forget: (files, renewal) => this.#forget(files, renewal) },
    };
  }

  /** Opens the store of all conversations (5); again if that failed. */
  #openStore(location: JournalLocation): Promise<AgentStore> {
    const warn = ({ path, message }: StoreWarning) => this.#log.write('warn', 'store.repaired', `${path}: ${message}`);
    this.#store ??= this.host.openStore(location, warn).catch((error: unknown) => {
      this.#store = undefined;
      throw error;
    });
    return this.#store;
  }

  /** Does something once that all conversations of the agent need. */
  #once(what: string, action: () => unknown): void {
    if (this.#done.has(what)) return;
    action();
    this.#done.add(what);
  }

  /** Forgets each file once for each step of a change (4). */
  #forget(files: readonly string[], renewal: string): void {
    const due = files.filter((file) => !this.#forgotten.has(`${renewal} ${file}`));
    for (const file of due) this.#forgotten.add(`${renewal} ${file}`);
    forgetModules(due);
  }

  /** Ends a conversation (1). */
  async #leave(seat: number, code: number): Promise<void> {
    const left = this.#seats.get(seat);
    if (left === undefined || this.#leaving.has(seat) || this.#isEnding) return;
    this.#leaving.add(seat);
    this.#terminators.delete(seat);
    if (code !== 0) {
      const released = left.conversation.abandon().then(
        () => true,
        () => false,
      );
      const isReleased = await waitAtMost(this.host.clock, RELEASE_MS, released);
      if (isReleased !== true) {
        const problem = 'A conversation that failed could not be closed, so its process ends';
        return this.#crash('conversation.stuck', problem, new Error('its turn or its cleanup still runs'));
      }
    }
    this.#seats.delete(seat);
    this.#leaving.delete(seat);
    left.channel.close();
    await this.channel.send({ seat, exit: code }).catch(() => undefined);
  }

  #crash(event: string, problem: string, thrown: unknown): void {
    if (this.#isEnding) return;
    this.#log.writeThrown('error', event, problem, thrown);
    void this.#end(1);
  }

  async #end(code: number): Promise<void> {
    if (this.#isEnding) return;
    this.#isEnding = true;
    const flushed = [...this.#seats.values()].map(({ conversation }) => conversation.flush());
    // After an error, turns may still run. The next process takes their locks.
    if (code === 0) flushed.push(this.#closeStore());
    const said = Promise.all([...flushed, this.channel.closeAfterFlush()]);
    await waitAtMost(this.host.clock, LAST_WORDS_MS, said);
    this.host.exit(code);
  }

  async #closeStore(): Promise<void> {
    // A failure to open the store was already told to the conversation that needed it.
    const store = await this.#store?.catch(() => undefined);
    await store?.close();
  }

  #send(seat: number, message: FromAgent): Promise<void> {
    return this.channel.send({ seat, message });
  }
}
