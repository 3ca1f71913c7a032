import type { AgentAddress, JsonValue } from '@goondan/types';
import type { InstanceSlots } from './instance-slots.ts';
import { readQueue, type QueueEntry } from '../lines/durable-queue.ts';

/** The outbox: answers that were not fetched yet. Only the owner of the instance writes it. */
export function openOutbox(slots: InstanceSlots) {
  return {
    /**
     * Adds an entry, which is durable when the promise resolves. A second call with the same key changes nothing.
     * **Errors** — `E_OUTBOX_FULL`.
     */
    async add(instance: AgentAddress, key: string, value: JsonValue): Promise<void> {
      await slots.of(instance).withQueues((queues) => queues.addToOutbox(key, value));
    },
    /**
     * Lists the entries, oldest first. The key of an answer that a caller waits for is the id of its turn
     * (`decodeReply`).
     */
    async pending(instance: AgentAddress): Promise<readonly QueueEntry[]> {
      const slot = slots.of(instance);
      const writer = await slot.ownedWriter();
      if (writer) return writer.withQueues(async (queues) => queues.outbox.entries);
      return readQueue(slot.stored, slot.stored.paths.outbox);
    },
    async acknowledge(instance: AgentAddress, key: string): Promise<void> {
      await slots.of(instance).withQueues((queues) => queues.outbox.remove(key));
    },
  };
}
