/** The queues of an instance: answers and dead letters, kept until they are fetched. */
import { GoondanError, type JsonValue } from '@goondan/types';
import { decodeLetter, encodeLetter, type DeadLetter } from '../records/dead-letter.ts';
import type { InstancePaths } from '../layout/instance-paths.ts';
import type { StoreLimits } from '../limits.ts';
import { DurableQueue, type QueueEntry } from '../lines/durable-queue.ts';
import { encodeReply } from '../records/reply.ts';
import type { StorePorts } from '../store-ports.ts';
import type { FinishedTurns } from './finished-turns.ts';
import type { CommitRecord } from '../records/metadata.ts';

export class InstanceQueues {
  readonly #ports: StorePorts;
  readonly #paths: InstancePaths;
  readonly #limits: StoreLimits;
  readonly #outbox: DurableQueue;
  #letters: DurableQueue | undefined;

  private constructor(ports: StorePorts, paths: InstancePaths, limits: StoreLimits, outbox: DurableQueue) {
    this.#ports = ports;
    this.#paths = paths;
    this.#limits = limits;
    this.#outbox = outbox;
  }

  static async open(ports: StorePorts, paths: InstancePaths, limits: StoreLimits): Promise<InstanceQueues> {
    const outbox = await DurableQueue.open(ports, paths.outbox, limits.queueCompactionLines);
    return new InstanceQueues(ports, paths, limits, outbox);
  }

  get outbox(): readonly QueueEntry[] {
    return this.#outbox.entries;
  }

  /** Throws when the outbox is full. **Errors** — `E_OUTBOX_FULL`. */
  refuseFullOutbox(): void {
    if (this.#outbox.size < this.#limits.outboxEntries) return;
    throw new GoondanError('E_OUTBOX_FULL', `${this.#paths.outbox} holds ${this.#outbox.size} answers nobody fetched`);
  }

  /**
   * Adds the answer of the last commit to the outbox, if a caller waits for it. It is idempotent, so that it can run
   * again after a crash. The outbox limit does not apply here, because the turn is already committed; a full outbox
   * stops the next turn instead.
   */
  async putReply({ turn }: CommitRecord, finished: FinishedTurns): Promise<void> {
    const result = turn && finished.get(turn.id);
    if (turn?.replyTo && result) await this.#outbox.add(turn.id, encodeReply({ replyTo: turn.replyTo, result }));
  }

  /** Adds an entry, idempotent on the key. **Errors** — `E_OUTBOX_FULL`. */
  async addToOutbox(key: string, value: JsonValue): Promise<void> {
    this.refuseFullOutbox();
    await this.#outbox.add(key, value);
  }

  async acknowledge(key: string): Promise<void> {
    await this.#outbox.remove(key);
  }

  /**
   * Adds a dead letter. It runs before the commit of the turn that gives the event up. A crash in between does no harm:
   * the letter is added again.
   */
  async putLetter(letter: DeadLetter): Promise<void> {
    const letters = await this.#openLetters();
    await letters.add(letter.event.id, encodeLetter(letter));
    const tooMany = letters.size - this.#limits.deadLetters;
    for (const { key } of letters.entries.slice(0, Math.max(0, tooMany))) {
      await letters.remove(key);
      this.#ports.warn({ path: this.#paths.deadLetters, message: `dropped the oldest dead letter, event ${key}` });
    }
  }

  async letters(): Promise<readonly DeadLetter[]> {
    return (await this.#openLetters()).entries.map(decodeLetter);
  }

  async dropLetter(eventId: string): Promise<void> {
    await (await this.#openLetters()).remove(eventId);
  }

  async close(): Promise<void> {
    await this.#outbox.close();
    await this.#letters?.close();
  }

  async #openLetters(): Promise<DurableQueue> {
    const { queueCompactionLines } = this.#limits;
    this.#letters ??= await DurableQueue.open(this.#ports, this.#paths.deadLetters, queueCompactionLines);
    return this.#letters;
  }
}
