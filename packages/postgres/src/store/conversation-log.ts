/**
 * The logs of conversations in PostgreSQL. A frame is a row of `gdn_frame`, and the last number is in the row of the
 * instance.
 *
 * Invariants: 1. Every write is one statement, which first changes the row of the instance, on the condition that this
 * node owns it with this epoch and that the last number is the one before the first new frame. Otherwise the statement
 * changes nothing. So a statement that runs twice, or late, is written once. 2. Statements of an instance run one after
 * the other. 3. Frames that need not be durable wait in memory, at most `waitMs` and `mostBytes`; they are written with the
 * next frame that must be.
 */
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { ConversationLog, LogFrame, NewCheckpoint, StoredLog } from '@goondan/runtime/history';
import { defaultLimits } from '@goondan/runtime/internal';
import type { Query } from '../driver/repeat.ts';
import { appendStatement, type AppendOutcome, appendValues } from './append-statement.ts';
import { checkpointStatement, type CheckpointOutcome } from './checkpoint-statement.ts';
import { damagedRows } from './damaged-rows.ts';
import { keyOf, notTheOwner, ownerQueryOf, SAME_INSTANCE, type StoreContext } from './store-context.ts';
import { trimHistory } from './trim-history.ts';

const WAIT_MS = 200;
const MOST_BYTES = 256 * 1024;
const MOST_ARCHIVED_BYTES = defaultLimits.archive.bytes * defaultLimits.archive.files;

export interface PostgresLogOptions {
  /** The most time and the most bytes of frames that wait in memory, for an instance. */
  readonly waitMs?: number;
  readonly mostBytes?: number;
  /** The bytes of archived lines that are kept for an instance. Files keep as many. */
  readonly mostArchivedBytes?: number;
}

/** Frames of one instance that are not written, and the statements that run for it. */
interface Waiting {
  epoch: number;
  frames: LogFrame[];
  bytes: number;
  timer?: ReturnType<typeof setTimeout> | undefined;
  /** Resolves when the statements that were begun have ended. Never rejects. */
  last: Promise<void>;
  running: number;
  /** The error of a write. Nothing more is written until the log is loaded again. */
  failed?: GoondanError;
}

export class PostgresLog implements ConversationLog {
  readonly #query: Query;
  readonly #waiting = new Map<string, Waiting>();
  readonly #waitMs: number;
  readonly #mostBytes: number;
  readonly #mostArchivedBytes: number;

  constructor(
    private readonly context: StoreContext,
    { waitMs, mostBytes, mostArchivedBytes }: PostgresLogOptions = {},
  ) {
    this.#query = ownerQueryOf(context);
    this.#waitMs = waitMs ?? WAIT_MS;
    this.#mostBytes = mostBytes ?? MOST_BYTES;
    this.#mostArchivedBytes = mostArchivedBytes ?? MOST_ARCHIVED_BYTES;
  }

  async load(instance: AgentAddress): Promise<StoredLog> {
    // Frames of a process that has ended belong to the log. If they cannot be written, the log ends before them.
    await this.settle(instance).catch(() => undefined);
    return this.#inTurn(instance, async (waiting) => {
      const [row] = await this.#query<LoadedRow>(LOAD, [...keyOf(this.context, instance), this.context.node]);
      if (row === undefined) throw notTheOwner(instance);
      refuseOtherEnd(instance, row);
      delete waiting.failed;
      return {
        epoch: row.epoch,
        ...(row.checkpoint !== null && { checkpoint: row.checkpoint }),
        base: row.base === null ? [] : [row.base],
        frames: row.frames === null ? [] : row.frames.split('\n'),
      };
    });
  }

  async append(instance: AgentAddress, epoch: number, frame: LogFrame): Promise<void> {
    const waiting = this.#waitingOf(instance);
    if (waiting.failed) throw waiting.failed;
    if (waiting.frames.length > 0 && epoch < waiting.epoch) throw notTheOwner(instance);
    // Frames of an earlier claim, which this node lost, are not of this log any more.
    if (epoch > waiting.epoch) [waiting.frames, waiting.bytes, waiting.epoch] = [[], 0, epoch];
    waiting.frames.push(frame);
    waiting.bytes += frame.line.length;
    if (frame.isDurable || frame.commit !== undefined || waiting.bytes > this.#mostBytes)
      return this.#writeWaiting(instance);
    waiting.timer ??= setTimeout(() => void this.settle(instance).catch(() => undefined), this.#waitMs);
  }

  async putCheckpoint(instance: AgentAddress, epoch: number, checkpoint: NewCheckpoint): Promise<void> {
    await this.settle(instance);
    await this.#inTurn(instance, async (waiting) => {
      if (waiting.failed) throw waiting.failed;
      const archivedBytes = await this.#replaceCheckpoint(instance, epoch, checkpoint);
      if (archivedBytes > this.#mostArchivedBytes) await this.#trim(instance, epoch);
    });
  }

  /** The checkpoint is there, so an error is left to the next write. */
  async #trim(instance: AgentAddress, epoch: number): Promise<void> {
    await trimHistory(this.context, instance, epoch, this.#mostArchivedBytes).catch((error: unknown) => {
      if (!GoondanError.is(error)) throw error;
    });
  }

  /** Returns the bytes of the archive before. */
  async #replaceCheckpoint(instance: AgentAddress, epoch: number, checkpoint: NewCheckpoint): Promise<number> {
    const { seq, text, base } = checkpoint;
    const statement = checkpointStatement(base.type);
    const values = [...keyOf(this.context, instance), this.context.node, epoch, seq, text, base.lines];
    for (;;) {
      const [outcome] = await this.#query<CheckpointOutcome>(statement, values);
      if (outcome?.is_done === true) return outcome.archived_bytes;
      if (outcome?.is_owner !== true) throw notTheOwner(instance);
      const { checkpoint_seq: newest, last_seq: last } = outcome;
      // A run of this statement whose answer was lost has done it.
      if (newest === seq) return outcome.archived_bytes;
      const isOlder = (newest ?? 0) > seq || (last ?? 0) < seq;
      if (isOlder) throw endsElsewhere(instance, newest ?? 0, seq);
    }
  }

  /** Writes the frames of an instance that wait in memory. Call it before the instance is given up. */
  async settle(instance: AgentAddress): Promise<void> {
    const waiting = this.#waiting.get(nameOf(instance));
    if (waiting === undefined) return;
    if (waiting.frames.length > 0) return this.#writeWaiting(instance);
    await waiting.last;
    if (waiting.failed) throw waiting.failed;
  }

  /** Drops everything in memory about an instance that was deleted or lost. */
  forget(instance: AgentAddress): void {
    const waiting = this.#waiting.get(nameOf(instance));
    clearTimeout(waiting?.timer);
    this.#waiting.delete(nameOf(instance));
  }

  /** Writes all frames that wait in memory. Never rejects: an instance that was lost has a new owner. */
  async close(): Promise<void> {
    const names = [...this.#waiting.keys()].map((name) => JSON.parse(name) as [string, string]);
    const settled = names.map(([agentName, instanceKey]) => this.settle({ agentName, instanceKey }));
    await Promise.allSettled(settled);
    for (const { timer } of this.#waiting.values()) clearTimeout(timer);
    this.#waiting.clear();
  }

  #writeWaiting(instance: AgentAddress): Promise<void> {
    const waiting = this.#waitingOf(instance);
    clearTimeout(waiting.timer);
    waiting.timer = undefined;
    const { epoch, frames } = waiting;
    waiting.frames = [];
    waiting.bytes = 0;
    return this.#inTurn(instance, async () => {
      if (waiting.failed) throw waiting.failed;
      try {
        await this.#write(instance, epoch, frames);
      } catch (error) {
        // Safe: every error of a query is a GoondanError.
        waiting.failed = error as GoondanError;
        throw error;
      }
    });
  }

  async #write(instance: AgentAddress, epoch: number, frames: readonly LogFrame[]): Promise<void> {
    const commit = frames.at(-1)?.commit;
    const begins = frames.some((frame) => frame.begins !== undefined);
    const statement = appendStatement({ commit, begins, channel: this.context.channel });
    const values = appendValues(this.context, instance, epoch, frames);
    for (;;) {
      const [outcome] = await this.#query<AppendOutcome>(statement, values);
      if (outcome?.is_done === true) return;
      if (outcome?.is_owner !== true) throw notTheOwner(instance);
      const first = frames[0]?.seq ?? 0;
      if (outcome.last_seq === first - 1 && outcome.is_early) throw outOfOrder(instance);
      // Another run of this statement, whose answer was lost, ended while this one waited for the row.
      if (outcome.last_seq === first - 1) continue;
      if (outcome.are_there) return;
      throw endsElsewhere(instance, outcome.last_seq ?? 0, first);
    }
  }

  #waitingOf(instance: AgentAddress): Waiting {
    const name = nameOf(instance);
    const waiting = this.#waiting.get(name) ?? {
      epoch: 0,
      frames: [],
      bytes: 0,
      last: Promise.resolve(),
      running: 0,
    };
    this.#waiting.set(name, waiting);
    return waiting;
  }

  /** Runs an action after the statements that were begun for the instance. */
  #inTurn<Result>(instance: AgentAddress, action: (waiting: Waiting) => Promise<Result>): Promise<Result> {
    const name = nameOf(instance);
    const waiting = this.#waitingOf(instance);
    waiting.running += 1;
    const done = waiting.last.then(() => action(waiting));
    const after = () => {
      waiting.running -= 1;
      const isIdle = waiting.running === 0 && waiting.frames.length === 0 && waiting.failed === undefined;
      if (isIdle && this.#waiting.get(name) === waiting) this.#waiting.delete(name);
    };
    waiting.last = done.then(after, after);
    return done;
  }
}

interface LoadedRow extends Readonly<Record<string, unknown>> {
  readonly epoch: number;
  readonly checkpoint: string | null;
  readonly base: string | null;
  readonly frames: string | null;
  /** The last number by the row of the instance, and by its frames. */
  readonly last_seq: number;
  readonly last_frame: number;
}

/** Refuses a log whose end was changed by hand: every write to it would fail. **Errors** — `E_STORE_CORRUPT`. */
function refuseOtherEnd(instance: AgentAddress, { last_seq: last, last_frame: kept }: LoadedRow): void {
  if (last === kept) return;
  throw damagedRows(instance, 'gdn_frame', `its frames end at ${kept}, and last_seq in gdn_instance is ${last}`);
}

/** The last number of the frames of a row `own` of `gdn_instance`. Frames before the checkpoint are in the archive. */
export const LAST_FRAME = `coalesce((
    select kept.last from gdn_frame kept
    where kept.swarm = own.swarm and kept.agent = own.agent and kept.key = own.key order by kept.seq desc limit 1
  ), own.checkpoint_seq)`;

const LOAD = `
select epoch, checkpoint, last_seq, ${LAST_FRAME} as last_frame,
  (select string_agg(lines, '' order by part) from gdn_base where ${SAME_INSTANCE}) as base,
  (select string_agg(line, E'\\n' order by seq) from gdn_frame where ${SAME_INSTANCE}) as frames
from gdn_instance own where ${SAME_INSTANCE} and owner = $4`;

function endsElsewhere({ agentName, instanceKey }: AgentAddress, last: number, next: number): GoondanError {
  const whose = `agent ${agentName}, instance ${JSON.stringify(instanceKey)}`;
  const message = `The log of ${whose} is at number ${last}; this writer is at ${next}. Another one wrote it.`;
  return new GoondanError('E_FENCED', message);
}

function outOfOrder({ agentName, instanceKey }: AgentAddress): GoondanError {
  const whose = `agent ${agentName}, instance ${JSON.stringify(instanceKey)}`;
  const message = `Earlier input of ${whose} is not handled yet, so nothing was written.`;
  return new GoondanError('E_STORE_ORDER', message, { retryable: true });
}

function nameOf({ agentName, instanceKey }: AgentAddress): string {
  return JSON.stringify([agentName, instanceKey]);
}
