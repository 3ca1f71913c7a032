import type { AgentAddress, JsonValue } from '@goondan/types';
import type { QueueEntry } from '../lines/durable-queue.ts';
import { readState } from '../records/read-log.ts';
import type { InstanceSlots } from './instance-slots.ts';

/** The outbox: answers that were not fetched yet. Only the owner of the instance writes it. */
export function openOutbox(slots: InstanceSlots) {
  return {
    /**
     * Adds an entry, which is durable when the promise resolves. A second call with the same key changes nothing.
     * **Errors** — `E_OUTBOX_FULL`.
     */
    async add(instance: AgentAddress, key: string, value: JsonValue): Promise<void> {
      await slots.of(instance).withWriter((writer) => writer.addAnswer(key, value));
    },
    /**
     * Lists the entries, oldest first. The key of an answer that a caller waits for is the id of its turn
     * (`decodeReply`).
     */
    async pending(instance: AgentAddress): Promise<readonly QueueEntry[]> {
      const slot = slots.of(instance);
      const writer = await slot.ownedWriter();
      return writer ? writer.answers() : ((await readState(slot.stored))?.state.answerEntries ?? []);
    },
    async acknowledge(instance: AgentAddress, key: string): Promise<void> {
      await slots.of(instance).withWriter((writer) => writer.removeAnswer(key));
    },
  };
}
