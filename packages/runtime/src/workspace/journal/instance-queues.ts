/** The queues of an instance: answers and dead letters, kept until they are fetched. */
import { GoondanError, type JsonValue } from '@goondan/types';
import { encodeLetter, type DeadLetter } from '../records/dead-letter.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { DurableQueue } from '../lines/durable-queue.ts';
import { encodeReply } from '../records/reply.ts';
import type { FinishedTurns } from './finished-turns.ts';
import type { CommitRecord } from '../records/metadata.ts';

export class InstanceQueues {
  #letters: DurableQueue | undefined;

  private constructor(
    private readonly stored: StoredInstance,
    /** The queue of answers. Add an answer with `addToOutbox` or `putReply`. */
    readonly outbox: DurableQueue,
  ) {}

  static async open(stored: StoredInstance): Promise<InstanceQueues> {
    const { paths, limits } = stored;
    return new InstanceQueues(stored, await DurableQueue.open(stored, paths.outbox, limits.queueCompactionLines));
  }

  /** Throws when the outbox is full. **Errors** — `E_OUTBOX_FULL`. */
  refuseFullOutbox(): void {
    const { paths, limits } = this.stored;
    const { size } = this.outbox;
    if (size < limits.outboxEntries) return;
    throw new GoondanError('E_OUTBOX_FULL', `${paths.outbox} holds ${size} answers nobody fetched`);
  }

  /**
   * Adds the answer of the last commit to the outbox, if a caller waits for the answer. A second call changes nothing,
   * so it can run again after a crash. The outbox limit does not apply here, because the turn is already committed; a
   * full outbox stops the next turn instead.
   */
  async putReply({ turn }: CommitRecord, finished: FinishedTurns): Promise<void> {
    const result = turn && finished.get(turn.id);
    if (turn?.replyTo && result) await this.outbox.add(turn.id, encodeReply({ replyTo: turn.replyTo, result }));
  }

  /**
   * Adds an entry. Does nothing when the outbox has or recently had an entry with this key. **Errors** —
   * `E_OUTBOX_FULL`.
   */
  async addToOutbox(key: string, value: JsonValue): Promise<void> {
    this.refuseFullOutbox();
    await this.outbox.add(key, value);
  }

  /**
   * Adds a dead letter, before the commit of the turn that gives the event up. A crash between the two does no harm:
   * the letter is added again.
   */
  async putLetter(letter: DeadLetter): Promise<void> {
    const { paths, limits, warn } = this.stored;
    const letters = await this.letters();
    await letters.add(letter.event.id, encodeLetter(letter));
    const tooMany = letters.size - limits.deadLetters;
    for (const { key } of letters.entries.slice(0, Math.max(0, tooMany))) {
      await letters.remove(key);
      warn({ path: paths.deadLetters, message: `dropped the oldest dead letter, event ${key}` });
    }
  }

  /** Opens the queue of dead letters at its first use. */
  async letters(): Promise<DurableQueue> {
    const { paths, limits } = this.stored;
    this.#letters ??= await DurableQueue.open(this.stored, paths.deadLetters, limits.queueCompactionLines);
    return this.#letters;
  }

  async close(): Promise<void> {
    await this.outbox.close();
    await this.#letters?.close();
  }
}
