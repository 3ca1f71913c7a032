/**
 * One process that runs many conversations of an agent, each in a seat. To its supervisor, a seat is a child process of
 * its own: with a channel, an exit and a way to end it.
 *
 * Invariants:
 * 1. A seat is given to one conversation. A conversation that comes back gets another seat, here or elsewhere.
 * 2. New conversations are admitted only while the process runs the agent of the plan in force, with nothing of a change
 *    that was dropped: they get the modules that the process has in memory.
 * 3. A process ends when its last conversation was closed. The exit of that seat is the exit of the process, so that no
 *    process is left that nobody counts.
 * 4. When the process ends by itself or is killed, each open seat ends with it, and is told whether it was alone. The end of
 *    a process with several seats is reported once, because hundreds of conversations may have had a seat.
 */
import { isDeepStrictEqual } from 'node:util';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import { mostInstancesOf } from '../../config/isolation.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import { SeatChannel } from '../../ipc/seat-channel.ts';
import type { BlockedCode } from '../../ipc/running-code.ts';
import { PROCESS_SEAT, type Seated } from '../../ipc/seated-language.ts';
import type { ChildExit, ChildProcess } from '../../ipc/spawn.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { defined } from '../../json/defined.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SharedEnd } from './describe-shared-end.ts';

export type SharedChild = ChildProcess<Seated<ToAgent>, Seated<FromAgent>>;

export interface SharedProcessDeps {
  readonly clock: Clock;
  /** Returns the agent of the plan in force. */
  readonly agentNow: () => DeclaredAgent | undefined;
  /** Receives messages that concern no conversation: log lines of the process, and counts of dropped frames. */
  readonly heard: (message: FromAgent) => void;
  /** Receives the reason of a rejected frame, for which the process is killed. */
  readonly refused: (problem: string) => void;
  /** Called once when the process ends by itself or is killed while several conversations are in it. */
  readonly ended: (end: SharedEnd) => void;
}

interface Seat {
  readonly channel: SeatChannel<ToAgent, FromAgent>;
  readonly exited: PromiseWithResolvers<ChildExit>;
  /** True once the conversation has said that it ends by itself. */
  isLeaving: boolean;
  /** True while a turn of the conversation runs. */
  hasTurn: boolean;
}

/** The time in which a conversation that ends by itself must have left its seat. */
const LEAVES_MS = 8_000;
/** The time in which the process must exit after its last conversation was closed. */
const EXITS_MS = 10_000;
/** A process that answered this recently is not asked again for another conversation. */
const ANSWERED_MS = 500;

export class SharedProcess {
  readonly #seats = new Map<number, Seat>();
  readonly #changes = new Set<number>();
  #agent: DeclaredAgent;
  #isOpen = true;
  #lastSeat = PROCESS_SEAT;
  /** Seats that wait for the answer to a ping, with the number of their own ping. */
  #pings: { readonly seat: Seat; readonly n: number }[] = [];
  #pinged = 0;
  #answeredAt = Number.NEGATIVE_INFINITY;
  /** Set when the process was found blocked. */
  #blocked: BlockedCode | undefined;

  constructor(
    private readonly child: SharedChild,
    agent: DeclaredAgent,
    private readonly deps: SharedProcessDeps,
  ) {
    this.#agent = agent;
    child.channel.onMessage((frame) => this.#hear(frame));
    child.channel.onRefused(({ code, message }) => {
      deps.refused(`${code}: ${message} The process that sent it is killed.`);
      void child.kill(0);
    });
    child.channel.onClose(() => {
      this.#isOpen = false;
      for (const { channel } of this.#seats.values()) channel.close();
    });
    void child.exited.then((exit) => this.#exited(exit));
  }

  get pid(): number {
    return this.child.pid;
  }

  /** The number of changes that the process was asked to prepare. */
  get changes(): number {
    return this.#changes.size;
  }

  /** Returns the number of further conversations of this agent that the process admits (invariant 2). */
  roomFor(agent: DeclaredAgent): number {
    if (!this.#isOpen) return 0;
    if (this.#agent !== agent && !isDeepStrictEqual(this.#agent, agent)) return 0;
    this.#agent = agent;
    return Math.max(0, mostInstancesOf(agent) - this.#seats.size);
  }

  /** Gives a seat to a conversation. */
  admit(): ChildProcess<ToAgent, FromAgent> {
    this.#lastSeat += 1;
    const number = this.#lastSeat;
    const channel = new SeatChannel<ToAgent, FromAgent>((message) => this.#send(seat, number, message));
    const seat: Seat = { channel, exited: Promise.withResolvers(), isLeaving: false, hasTurn: false };
    this.#seats.set(number, seat);
    const kill = (graceMs: number) => this.#kill(seat, graceMs);
    const hung = () => this.#hung(number);
    return { pid: this.pid, channel, exited: seat.exited.promise, hung, kill, shared: this };
  }

  async #send(seat: Seat, number: number, message: ToAgent): Promise<void> {
    switch (message.type) {
      case 'ping':
        return this.#ping(seat, message.n);
      case 'turn':
        seat.hasTurn = true;
        break;
      case 'change.prepare':
        this.#changes.add(message.change);
        break;
      case 'change.drop':
        // The memory of the process may have modules of the dropped change.
        this.#isOpen = false;
        break;
      case 'change.swap':
        // The plan is in force before processes are told to swap.
        this.#agent = this.deps.agentNow() ?? this.#agent;
        break;
      default:
    }
    return this.child.channel.send({ seat: number, message });
  }

  /** Asks the process once for all conversations that want to know whether it answers. */
  async #ping(seat: Seat, n: number): Promise<void> {
    if (this.deps.clock.elapsed() - this.#answeredAt < ANSWERED_MS) return seat.channel.deliver({ type: 'pong', n });
    this.#pings.push({ seat, n });
    if (this.#pings.length > 1) return undefined;
    this.#pinged += 1;
    return this.child.channel.send({ seat: PROCESS_SEAT, message: { type: 'ping', n: this.#pinged } });
  }

  #hear(frame: Seated<FromAgent>): void {
    const { seat: number } = frame;
    if (number === PROCESS_SEAT) return 'message' in frame ? this.#hearOwn(frame.message) : undefined;
    const seat = this.#seats.get(number);
    if (seat === undefined) return undefined;
    if ('exit' in frame) return this.#leave(number, seat, frame.exit);
    const { message } = frame;
    if (message.type === 'start.failed' || message.type === 'turn.lost') seat.isLeaving = true;
    if (message.type === 'turn.done') seat.hasTurn = message.begins !== undefined;
    return seat.channel.deliver(message);
  }

  #hearOwn(message: FromAgent): void {
    if (message.type !== 'pong') return this.deps.heard(message);
    this.#answeredAt = this.deps.clock.elapsed();
    for (const { seat, n } of this.#pings.splice(0)) seat.channel.deliver({ type: 'pong', n });
  }

  /** Handles a conversation that was closed (invariant 3). */
  #leave(number: number, seat: Seat, code: number): void {
    this.#seats.delete(number);
    const exit = { code, signal: null, leftBehind: 0 };
    if (this.#seats.size > 0) return this.#end(seat, { ...exit, sharing: 'left' });
    this.#isOpen = false;
    void this.child.exited.then(({ leftBehind }) => this.#end(seat, { ...exit, leftBehind }));
    const drain = { type: 'drain', graceMs: EXITS_MS } as const;
    this.child.channel.send({ seat: PROCESS_SEAT, message: drain }).catch(() => undefined);
    const callOff = this.deps.clock.after(EXITS_MS, () => void this.child.kill(0));
    void this.child.exited.then(callOff);
  }

  /** Handles the end of the process (invariant 4). */
  #exited({ leftBehind, blocked: _, ...exit }: ChildExit): void {
    this.#isOpen = false;
    const sharing = this.#seats.size > 1 ? 'together' : 'alone';
    const seats = [...this.#seats];
    this.#seats.clear();
    if (sharing === 'together') {
      const turns = seats.filter(([, { hasTurn }]) => hasTurn).length;
      const { code, signal } = exit;
      this.deps.ended({ pid: this.pid, code, signal, conversations: seats.length, turns });
    }
    for (const [index, [number, seat]] of seats.entries()) {
      const blocked = this.#blocked?.conversation === number ? this.#blocked.words : undefined;
      this.#end(seat, { ...exit, leftBehind: index === 0 ? leftBehind : 0, sharing, ...defined({ blocked }) });
    }
  }

  /** Returns the code in which the process is blocked, for a conversation that it does not answer. */
  #hung(number: number): BlockedCode | undefined {
    this.#blocked ??= this.child.hung?.();
    if (this.#blocked === undefined || this.#blocked.conversation === number) return this.#blocked;
    return { ...this.#blocked, words: `${this.#blocked.words}, for another conversation` };
  }

  #end(seat: Seat, exit: ChildExit): void {
    seat.channel.close();
    seat.exited.resolve(exit);
  }

  /**
   * Ends a conversation at once. Its code cannot be stopped alone, so the whole process is killed, unless the
   * conversation is about to leave by itself.
   */
  async #kill(seat: Seat, graceMs: number): Promise<ChildExit> {
    if (seat.isLeaving) {
      const callOff = this.deps.clock.after(LEAVES_MS, () => void this.child.kill(0));
      return seat.exited.promise.finally(callOff);
    }
    void this.child.kill(graceMs);
    return seat.exited.promise;
  }
}
