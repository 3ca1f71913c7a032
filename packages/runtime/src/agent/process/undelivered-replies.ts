/**
 * Answers in the instance's outbox: those an earlier process left are sent again, and each goes when the orchestrator
 * says that it was handed on.
 *
 * 1. What was left is looked for before the first turn of this process: its own answers go with its `turn.done`.
 * 2. Acknowledging writes to the disk the running turn writes to, so it waits until none runs. Not having done it costs
 *    a reply that is sent once more; that is also what happens to the oldest when more than `MOST_TAKEN` wait.
 */
import type { Channel } from '../../ipc/channel/channel.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { QueueEntry } from '../../workspace/lines/durable-queue.ts';
import { decodeReply } from '../../workspace/records/reply.ts';
import type { InstanceJournal } from './instance-journal.ts';
import { sendResult } from './send-result.ts';

const MOST_TAKEN = 1_000;
/** A reply is kept under the id of its turn, which is this and the event's id. */
const PREFIX = 'turn-';

export interface UndeliveredRepliesDeps {
  readonly journal: InstanceJournal;
  readonly channel: Channel<FromAgent, ToAgent>;
  /** No turn runs. */
  readonly isIdle: () => boolean;
  readonly report: (problem: string, thrown: unknown) => void;
}

export class UndeliveredReplies {
  readonly #deps: UndeliveredRepliesDeps;
  readonly #taken = new Set<string>();
  #left: Promise<readonly QueueEntry[]> | undefined;
  #acknowledging: Promise<void> = Promise.resolve();

  constructor(deps: UndeliveredRepliesDeps) {
    this.#deps = deps;
  }

  /** Resolves when it is known what was left. **Errors** — those of recovery: a turn would meet them too. */
  async found(): Promise<void> {
    await this.#look();
  }

  /** Never rejects. */
  async send(): Promise<void> {
    const { channel, report } = this.#deps;
    const left = await this.#look().catch((error: unknown) => {
      report('The conversation cannot be recovered', error);
      return [];
    });
    try {
      for (const { key, value } of left) {
        const reply = key.startsWith(PREFIX) ? decodeReply(value) : undefined;
        if (reply === undefined) continue;
        await sendResult(channel, { type: 'reply', eventId: key.slice(PREFIX.length), result: reply.result });
      }
    } catch (error) {
      report('Answers of an earlier process could not be sent; they stay in the outbox', error);
    }
  }

  taken(eventId: string): void {
    this.#taken.add(eventId);
    const [oldest] = this.#taken;
    if (this.#taken.size > MOST_TAKEN && oldest !== undefined) this.#taken.delete(oldest);
  }

  /** To be called whenever no turn runs. Stops at the next one. Never rejects. */
  acknowledge(): Promise<void> {
    this.#acknowledging = this.#acknowledging.then(() => this.#acknowledgeAll());
    return this.#acknowledging;
  }

  #look(): Promise<readonly QueueEntry[]> {
    this.#left ??= this.#findLeft();
    return this.#left;
  }

  /** The last answer may not have reached the outbox when the process before this one died: recovery puts it there. */
  async #findLeft(): Promise<readonly QueueEntry[]> {
    const { journal } = this.#deps;
    if (journal.isNew) return [];
    const opened = await journal.open();
    if (!(await opened.hasWork(journal.address))) return [];
    await opened.recover(journal.address);
    return opened.outbox.pending(journal.address);
  }

  async #acknowledgeAll(): Promise<void> {
    const { journal, report, isIdle } = this.#deps;
    for (const eventId of this.#taken) {
      if (!isIdle()) return;
      this.#taken.delete(eventId);
      try {
        const { outbox } = await journal.open();
        await outbox.acknowledge(journal.address, PREFIX + eventId);
      } catch (error) {
        report(`The answer to ${eventId} could not be taken out of the outbox`, error);
      }
    }
  }
}
