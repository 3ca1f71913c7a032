/**
 * The replies in the instance's outbox. Replies that an earlier process left are sent again, and each reply is removed
 * once the orchestrator has delivered it.
 *
 * 1. The outbox is read before the first turn of this process, so that it has no answers of this process's own turns.
 *    These answers are sent with `turn.done`.
 * 2. Removing a reply writes to the same disk as a running turn, so the removal waits until no turn runs. If a
 *    delivered reply is not removed, it is only sent once more. When more than `MOST_TAKEN` delivered replies are
 *    queued for removal, the oldest are forgotten and sent once more, too.
 */
import { shortIdOfEvent } from '../../ports/turn-ids.ts';
import type { LeftAnswer } from '../../store/answers.ts';
import type { InstanceJournal } from './instance-journal.ts';
import { sendResult } from './send-result.ts';
import type { AgentChannel } from './process-host.ts';

const MOST_TAKEN = 1_000;

export class UndeliveredReplies {
  readonly #taken = new Set<string>();
  #left: Promise<readonly LeftAnswer[]> | undefined;
  #acknowledging: Promise<void> = Promise.resolve();

  /** `isIdle`: returns true when no turn is running, and the conversation may still be written. */
  constructor(
    private readonly journal: InstanceJournal,
    private readonly channel: AgentChannel,
    private readonly isIdle: () => boolean,
    private readonly report: (problem: string, thrown: unknown) => void,
  ) {}

  /** Resolves when the outbox has been read. **Errors** — those of recovery; a turn would get the same errors. */
  found(): Promise<readonly LeftAnswer[]> {
    this.#left ??= this.#findLeft();
    return this.#left;
  }

  /** Sends the replies that an earlier process left. Never rejects. */
  async send(): Promise<void> {
    const left = await this.found().catch((error: unknown) => {
      this.report('The conversation cannot be recovered', error);
      return [];
    });
    try {
      for (const answer of left) await sendResult(this.channel, { type: 'reply', ...answer });
    } catch (error) {
      this.report('Answers of an earlier process could not be delivered; they stay in the outbox', error);
    }
  }

  taken(eventId: string): void {
    this.#taken.add(eventId);
    const [oldest] = this.#taken;
    if (this.#taken.size > MOST_TAKEN && oldest !== undefined) this.#taken.delete(oldest);
  }

  /**
   * Removes delivered replies from the outbox. While a turn runs it removes none: call it again after the turn. Never
   * rejects.
   */
  acknowledge(): Promise<void> {
    this.#acknowledging = this.#acknowledging.then(() => this.#acknowledgeAll());
    return this.#acknowledging;
  }

  async #findLeft(): Promise<readonly LeftAnswer[]> {
    const { journal } = this;
    if (journal.isNew) return [];
    return (await journal.open()).answers.left(journal.address);
  }

  async #acknowledgeAll(): Promise<void> {
    const { journal } = this;
    for (const eventId of this.#taken) {
      if (!this.isIdle()) return;
      this.#taken.delete(eventId);
      try {
        const { answers } = await journal.open();
        await answers.acknowledge(journal.address, eventId);
      } catch (error) {
        this.report(`The answer of turn ${shortIdOfEvent(eventId)} could not be taken out of the outbox`, error);
      }
    }
  }
}
