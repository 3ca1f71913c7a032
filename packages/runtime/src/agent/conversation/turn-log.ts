/**
 * Reads the records of an interrupted turn, and writes new ones.
 *
 * A `message` record counts, so that a resumed turn applies it, once an `entered` or `step` record follows it. The
 * input counts at once, and so does an input that the turn has taken, but not an input that comes back after a `truncate`.
 * A `dropped` step or a `resumed` record voids the earlier messages that do not count yet, except the survivors of the step.
 * Effects count as soon as they are recorded.
 */
import type { JsonValue, MessageEvent } from '@goondan/types';
import type { TurnUsage } from '../../ports/turn-outcome.ts';
import type { EffectOutcome, ResumePoint } from '../../trace/resume-point.ts';
import { countTurn, usageOf } from '../../usage/count-turn.ts';
import type { EventAuthor, StepRecord, TakenInput, TurnRecord, UnwrittenRecords } from './conversation-store.ts';

export interface TurnLog {
  /** The message events that count, in order. */
  readonly events: readonly MessageEvent[];
  /** The authors of these events; absent in a replay. */
  readonly authors?: readonly EventAuthor[];
  readonly inputId: string | undefined;
  /** The inputs of other events that the turn has taken, in order. */
  readonly taken: readonly TakenMessage[];
  readonly effects: ReadonlyMap<string, EffectOutcome>;
  readonly intents: ReadonlySet<string>;
  readonly steps: readonly StepRecord[];
  /** The tokens of all recorded effects, also of those in the step that runs again. */
  readonly usage: TurnUsage;
  /** Metadata and states at the last `entered` or `step` record; undefined when the turn never reached its steps. */
  readonly restorePoint:
    { readonly metadata: Record<string, JsonValue>; readonly extensionState: Record<string, JsonValue> } | undefined;
  /**
   * The number of earlier interruptions. Interruptions by a failing store, or by the end of a process that waited for a
   * person, do not count.
   */
  readonly resumes: number;
  /** The digest of the plan whose turn layers ran first; absent when the turn never reached its steps. */
  readonly plan?: string;
  /** The name of the last other node that ran the turn; absent if only this node did. */
  readonly movedFrom?: string;
  /** The code that blocked the last process of the turn, in words, if it was blocked; absent in a replay. */
  readonly blocked?: string;
}

/** The message of an input that the turn has taken, the event that it came with, and the step after it. */
export type TakenMessage = NonNullable<ResumePoint['taken']>[number];

type MessageRecord = Extract<TurnRecord, { type: 'message' }>;

/** `last`: what is known of the last process that ran the turn, and not in its log. */
export function readTurnLog(
  records: readonly TurnRecord[],
  last: Pick<TurnLog, 'movedFrom' | 'blocked'> = {},
): TurnLog {
  const counted: MessageRecord[] = [];
  let waiting: MessageRecord[] = [];
  let inputId: string | undefined;
  const taken: TakenMessage[] = [];
  let restorePoint: TurnLog['restorePoint'];
  let resumes = 0;
  let plan: string | undefined;
  let isAsking = false;
  const effects = new Map<string, EffectOutcome>();
  const intents = new Set<string>();
  const steps: StepRecord[] = [];
  const seal = () => {
    counted.push(...waiting);
    waiting = [];
  };
  for (const record of records) {
    switch (record.type) {
      case 'message':
        waiting.push(record);
        if (record.author.kind !== 'input' || record.author.again === true || record.event.type !== 'append') break;
        if (record.took === undefined) inputId = record.event.message.id;
        else taken.push(takenMessage(record.event.message.id, record.took));
        seal();
        break;
      case 'entered':
        seal();
        restorePoint = record;
        plan ??= record.plan;
        break;
      case 'step':
        if (record.outcome === 'dropped') waiting = survivorsOf(record, waiting);
        seal();
        steps.push(record);
        restorePoint = record;
        break;
      case 'intent':
        intents.add(record.key);
        break;
      case 'effect':
        effects.set(record.key, record.outcome);
        break;
      case 'resumed':
        waiting = [];
        if (!isAsking && record.isExcused !== true) resumes++;
        break;
    }
    isAsking = record.type === 'intent' && record.kind === 'approval';
  }
  const more = { ...(plan === undefined ? {} : { plan }), ...last };
  const usage = usageOf(countTurn(records.map((record) => ({ at: 0, record }))));
  const events = counted.map(({ event }) => event);
  const authors = counted.map(({ author }) => author);
  return { events, authors, inputId, taken, effects, intents, steps, usage, restorePoint, resumes, ...more };
}

function takenMessage(messageId: string, { event, beforeStep }: TakenInput): TakenMessage {
  return { messageId, eventId: event.id, beforeStep };
}

function survivorsOf({ survivors = [] }: StepRecord, messages: readonly MessageRecord[]): MessageRecord[] {
  return messages.filter((_, index) => survivors.includes(messages.length - index));
}

/** When this many records are queued, a flush starts by itself. */
const MOST_WAITING = 512;

/**
 * Collects a turn's records and appends them in batches, one batch at a time and in order. Records written while a
 * batch is being appended go into the next batch. After a failure nothing more is appended.
 */
export class TurnLogWriter {
  private waiting: TurnRecord[] = [];
  private running: Promise<void> = Promise.resolve();
  private scheduled: Promise<void> | undefined;
  private flushesSoon = false;
  private failure: { readonly error: unknown } | undefined;

  constructor(
    private written: number,
    private readonly append: (at: number, records: readonly TurnRecord[]) => Promise<void>,
  ) {}

  write(record: TurnRecord): void {
    this.waiting.push(record);
    if (this.waiting.length >= MOST_WAITING) void this.schedule();
  }

  /**
   * Starts appending the records in the background, as soon as the turn waits for something else. Records written
   * before then join the same batch. If appending fails, the next `flush` throws the error.
   */
  flushSoon(): void {
    if (this.flushesSoon) return;
    this.flushesSoon = true;
    setImmediate(() => {
      this.flushesSoon = false;
      void this.schedule();
    });
  }

  /** Resolves when all records so far are appended; rejects if an append failed, now or earlier. */
  async flush(): Promise<void> {
    await this.schedule();
    if (this.failure !== undefined) throw this.failure.error;
  }

  /**
   * Takes the records that are not appended yet, so that the commit of the turn stores them. Waits for a batch that is
   * being appended; rejects if an append failed, now or earlier.
   */
  async takeRest(): Promise<UnwrittenRecords> {
    await this.running;
    if (this.failure !== undefined) throw this.failure.error;
    const rest = { at: this.written, records: this.waiting };
    this.written += rest.records.length;
    this.waiting = [];
    return rest;
  }

  /** Starts or joins the next batch; never rejects. */
  private schedule(): Promise<void> {
    if (this.waiting.length === 0) return this.running;
    this.scheduled ??= this.running.then(() => this.appendWaiting());
    this.running = this.scheduled;
    return this.scheduled;
  }

  private async appendWaiting(): Promise<void> {
    this.scheduled = undefined;
    const records = this.waiting;
    this.waiting = [];
    // The commit may have taken the records of a batch that was due.
    if (this.failure !== undefined || records.length === 0) return;
    const at = this.written;
    this.written += records.length;
    try {
      await this.append(at, records);
    } catch (error) {
      this.failure = { error };
    }
  }
}
