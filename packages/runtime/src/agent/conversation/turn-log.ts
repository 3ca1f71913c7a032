/**
 * Reads the records of an interrupted turn, and writes new ones.
 *
 * Reading: a `message` counts once an `entered` or `step` record follows it (the input counts at once); a `dropped`
 * step or a `resumed` record voids the messages before it that do not count yet. Effects count from their record on.
 */
import type { JsonValue, MessageEvent } from '@goondan/types';
import type { EffectOutcome } from '../../trace/resume-point.ts';
import type { StepRecord, TurnRecord } from './conversation-store.ts';

export interface TurnLog {
  /** The message events that count, in order. */
  readonly events: readonly MessageEvent[];
  readonly inputId: string | undefined;
  readonly effects: ReadonlyMap<string, EffectOutcome>;
  readonly intents: ReadonlySet<string>;
  readonly steps: readonly StepRecord[];
  /** Metadata and states at the last sealing record; undefined when the turn never reached its steps. */
  readonly restorePoint:
    { readonly metadata: Record<string, JsonValue>; readonly extensionState: Record<string, JsonValue> } | undefined;
  /**
   * The number of earlier interruptions, without those by a failing store or by the end of a process that waited for a
   * person.
   */
  readonly resumes: number;
}

export function readTurnLog(records: readonly TurnRecord[]): TurnLog {
  const events: MessageEvent[] = [];
  let waiting: MessageEvent[] = [];
  let inputId: string | undefined;
  let restorePoint: TurnLog['restorePoint'];
  let resumes = 0;
  let isAsking = false;
  const effects = new Map<string, EffectOutcome>();
  const intents = new Set<string>();
  const steps: StepRecord[] = [];
  const seal = () => {
    events.push(...waiting);
    waiting = [];
  };
  for (const record of records) {
    switch (record.type) {
      case 'message':
        waiting.push(record.event);
        if (record.author.kind !== 'input' || record.event.type !== 'append') break;
        inputId = record.event.message.id;
        seal();
        break;
      case 'entered':
        seal();
        restorePoint = record;
        break;
      case 'step':
        if (record.outcome === 'dropped') waiting = [];
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
  return { events, inputId, effects, intents, steps, restorePoint, resumes };
}

/** At most this many records wait for a flush; then one starts by itself. */
const MOST_WAITING = 512;

/**
 * Collects a turn's records and makes them durable in batches, one at a time and in order. Records written while a
 * batch is being appended go with the next one. After a failure nothing more is appended.
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
   * Makes the written records durable in the background, as soon as the turn itself waits for something. Records that
   * the turn flushes before then are part of the same batch. A failure is thrown by the next `flush`.
   */
  flushSoon(): void {
    if (this.flushesSoon) return;
    this.flushesSoon = true;
    setImmediate(() => {
      this.flushesSoon = false;
      void this.schedule();
    });
  }

  /** Resolves when everything written so far is durable; rejects if an append failed, now or earlier. */
  async flush(): Promise<void> {
    await this.schedule();
    if (this.failure !== undefined) throw this.failure.error;
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
    if (this.failure !== undefined) return;
    const at = this.written;
    this.written += records.length;
    try {
      await this.append(at, records);
    } catch (error) {
      this.failure = { error };
    }
  }
}
