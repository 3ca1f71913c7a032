/** What an instance keeps for others to fetch: its answers and its dead letters. */
import { GoondanError, type JsonValue } from '@goondan/types';
import { decodeLetter, encodeLetter, type DeadLetter } from '../dead-letters/dead-letter.ts';
import type { InstancePaths } from '../layout/instance-paths.ts';
import type { StoreLimits } from '../limits.ts';
import { DurableQueue, type QueueEntry } from '../lines/durable-queue.ts';
import { encodeReply, type Reply } from '../outbox/reply.ts';
import type { StorePorts } from '../store-ports.ts';

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
    return new InstanceQueues(ports, paths, limits, await DurableQueue.open(ports, paths.outbox));
  }

  get outbox(): readonly QueueEntry[] {
    return this.#outbox.entries;
  }

  /** **Errors** — `E_OUTBOX_FULL`. */
  refuseFullOutbox(): void {
    if (this.#outbox.size < this.#limits.outboxEntries) return;
    throw new GoondanError('E_OUTBOX_FULL', `${this.#paths.outbox} holds ${this.#outbox.size} answers nobody fetched`);
  }

  /** Beyond the bound too, because its turn is committed: the next turn is what the bound stops. */
  async putReply(turnId: string, reply: Reply): Promise<void> {
    await this.#outbox.add(turnId, encodeReply(reply));
  }

  /** Idempotent on the key. **Errors** — `E_OUTBOX_FULL`. */
  async addToOutbox(key: string, value: JsonValue): Promise<void> {
    this.refuseFullOutbox();
    await this.#outbox.add(key, value);
  }

  async acknowledge(key: string): Promise<void> {
    await this.#outbox.remove(key);
  }

  /** Before the turn that gives the event up is committed: a crash in between only means that it is put here again. */
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
    this.#letters ??= await DurableQueue.open(this.#ports, this.#paths.deadLetters);
    return this.#letters;
  }
}
