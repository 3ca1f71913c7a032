/**
 * An open instance whose log is kept elsewhere. The owner keeps the messages that are not in the base yet, so that a
 * checkpoint reads nothing.
 */
import { type AgentAddress, GoondanError, type Message } from '@goondan/types';
import { encodeBase } from '../../messages/message-text.ts';
import { MessageList } from '../../messages/message-list.ts';
import type { Clock } from '../../ports/clock.ts';
import type { InstancePlace, PlacedLog, StateTexts } from '../../workspace/journal/instance-place.ts';
import type { StoreLimits } from '../../workspace/limits.ts';
import { together } from '../../workspace/lines/together.ts';
import { FinishedTurns } from '../../workspace/records/finished-turns.ts';
import { appendedBy, foldTurn, isAppend } from '../../workspace/records/fold-base.ts';
import type { TurnNode } from '../../workspace/records/frame.ts';
import type { CommittedTurn } from '../../workspace/records/gather-turns.ts';
import type { LogState } from '../../workspace/records/log-state.ts';
import type { StoreWarning } from '../../workspace/store-ports.ts';
import type { ConversationLog, LogFrame } from '../conversation-log.ts';
import { encodeCheckpoint } from './log-checkpoint.ts';
import { type FrameInput, headFrame, nextFrame } from './log-frames.ts';
import { nameInstance } from './name-instance.ts';
import { foldPieces, readStoredLog, type ReadStoredLog } from './read-stored-log.ts';

export interface LoggedPorts {
  readonly clock: Clock;
  readonly limits: StoreLimits;
  /** The node of the owner, for turns that move to another node. */
  readonly node?: TurnNode | undefined;
  /** Must not throw. */
  readonly warn: (warning: StoreWarning) => void;
}

/**
 * The frames after the checkpoint from which on a closing owner writes another one. Fewer frames are read as fast as a
 * checkpoint, so a short conversation is closed without a statement.
 */
const FRAMES_TO_CLOSE = 32;

interface Loaded extends ReadStoredLog {
  readonly epoch: number;
  readonly pieces: readonly string[];
  readonly tail: { readonly count: number; readonly bytes: number };
}

export class LoggedInstance implements InstancePlace {
  readonly name: string;
  readonly clock: Clock;
  readonly limits: StoreLimits;
  readonly node: TurnNode | undefined;
  readonly longestState = Number.POSITIVE_INFINITY;
  readonly state: LogState;
  readonly finished: FinishedTurns;
  readonly texts: StateTexts;
  readonly log: PlacedLog;
  readonly epoch: number;
  readonly #createdAt: string;
  /** False until the first frame is written, together with the first frame of a turn or a commit. */
  #hasHead: boolean;
  #last: number;
  /** Everything up to this number is durable. */
  #durable: number;
  /** The frames after the checkpoint. */
  #tail: { readonly count: number; readonly bytes: number };
  /** The messages after the checkpoint, if the turns only appended messages. */
  #added: Message[] | 'rewritten' = [];
  /** The messages of the conversation; the base and the turns after it until somebody needs them. */
  #messages: MessageList | { readonly pieces: readonly string[]; readonly turns: CommittedTurn[] };
  #isFenced = false;

  private constructor(
    private readonly kept: ConversationLog,
    private readonly address: AgentAddress,
    private readonly ports: LoggedPorts,
    { exists, createdAt, epoch, state, texts, turns, finished, pieces, tail }: Loaded,
  ) {
    this.name = nameInstance(address);
    this.clock = ports.clock;
    this.limits = ports.limits;
    this.node = ports.node;
    this.epoch = epoch;
    this.state = state;
    this.texts = texts;
    this.finished = new FinishedTurns(ports.limits, finished);
    this.#createdAt = createdAt;
    this.#hasHead = exists;
    this.#last = state.seq;
    // A load makes all frames durable.
    this.#durable = exists ? state.seq : 0;
    this.#tail = tail;
    this.#messages = exists ? { pieces, turns: [...turns] } : new MessageList();
    for (const turn of turns) this.#add(turn);
    const lastNumber = () => this.#last;
    this.log = {
      get last() {
        return lastNumber();
      },
      append: (frame, records, isDurable, asked) => this.#append({ frame, records, isDurable, asked }),
      close: async () => undefined,
    };
  }

  /**
   * Loads the instance for its owner. **Errors** — those of `ConversationLog.load`; `E_STORE_CORRUPT`.
   */
  static async load(kept: ConversationLog, address: AgentAddress, ports: LoggedPorts): Promise<LoggedInstance> {
    const { epoch, base, ...stored } = await kept.load(address);
    const read = readStoredLog(address, stored, ports.clock.now());
    const tail = { count: stored.frames.length, bytes: lengthOf(stored.frames) };
    return new LoggedInstance(kept, address, ports, { ...read, epoch, pieces: base, tail });
  }

  /** Returns an instance that certainly has no frame, without reading anything. */
  static begin(kept: ConversationLog, address: AgentAddress, ports: LoggedPorts, epoch: number): LoggedInstance {
    const read = readStoredLog(address, { frames: [] }, ports.clock.now());
    return new LoggedInstance(kept, address, ports, { ...read, epoch, pieces: [], tail: { count: 0, bytes: 0 } });
  }

  get isDue(): boolean {
    return this.#tail.bytes >= this.limits.checkpointBytes;
  }

  isHeld(): boolean {
    return !this.#isFenced;
  }

  warn(_part: 'log' | 'instance', message: string): void {
    this.ports.warn({ path: this.name, message });
  }

  async readBase(): Promise<readonly Message[]> {
    return this.#fold().snapshot();
  }

  follow(turn: CommittedTurn): void {
    this.#add(turn);
    if (this.#messages instanceof MessageList) this.#messages = foldTurn(this.#messages, turn);
    else this.#messages.turns.push(turn);
  }

  /** No state is too long for the log. */
  async prepareStates(): Promise<void> {}

  async placeStates(): Promise<void> {}

  async maintain(texts: StateTexts): Promise<void> {
    if (this.isDue && this.state.open.turnId === undefined) await this.#checkpoint(texts);
  }

  async finish(texts: StateTexts): Promise<void> {
    const { count, bytes } = this.#tail;
    const isWorth = count >= FRAMES_TO_CLOSE || bytes >= this.limits.checkpointBytes / 4;
    if (isWorth && this.state.open.turnId === undefined) await this.#checkpoint(texts);
  }

  async #append(input: FrameInput): Promise<void> {
    const next = nextFrame(this.state, this.#durable, input);
    const head = this.#hasHead ? [] : [headFrame(this.address, this.#createdAt)];
    const frames: readonly LogFrame[] = [...head, next];
    // The first frame is not waited for, so that it costs no round trip of its own.
    await this.#write(() => together(frames.map((frame) => this.kept.append(this.address, this.epoch, frame))));
    this.#hasHead = true;
    this.#last = next.last;
    if (next.isDurable) this.#durable = next.last;
    const { count, bytes } = this.#tail;
    this.#tail = { count: count + frames.length, bytes: bytes + lengthOf(frames.map(({ line }) => line)) };
  }

  async #checkpoint(texts: StateTexts): Promise<void> {
    const { state, finished } = this;
    // Until then, the records of the turns are in memory, too.
    const messages = this.#fold();
    const text = encodeCheckpoint({ createdAt: this.#createdAt, state, texts, finished });
    const base =
      this.#added === 'rewritten'
        ? ({ type: 'rewrite', lines: encodeBase(messages.snapshot()) } as const)
        : ({ type: 'append', lines: encodeBase(this.#added) } as const);
    await this.#write(() => this.kept.putCheckpoint(this.address, this.epoch, { seq: state.seq, text, base }));
    this.#tail = { count: 0, bytes: 0 };
    this.#added = [];
  }

  async #write(action: () => Promise<void>): Promise<void> {
    try {
      await action();
    } catch (error) {
      if (GoondanError.is(error) && error.code === 'E_FENCED') this.#isFenced = true;
      throw error;
    }
  }

  #add(turn: CommittedTurn): void {
    if (!isAppend(turn)) this.#added = 'rewritten';
    else if (this.#added !== 'rewritten') this.#added.push(...appendedBy(turn));
  }

  #fold(): MessageList {
    if (this.#messages instanceof MessageList) return this.#messages;
    const { pieces, turns } = this.#messages;
    this.#messages = foldPieces(pieces, turns);
    return this.#messages;
  }
}

function lengthOf(lines: readonly string[]): number {
  return lines.reduce((sum, line) => sum + line.length, 0);
}
