import type { AgentAddress, JsonValue } from '@goondan/types';
import type { InstanceQueues } from './instance-queues.ts';
import type { InstanceSlots } from './instance-slots.ts';
import { readQueue, type QueueEntry } from '../lines/durable-queue.ts';
import type { StorePorts } from '../store-ports.ts';

/** The outbox: answers that were not fetched yet. Only the owner of the instance writes it. */
export function openOutbox(ports: StorePorts, slots: InstanceSlots) {
  return {
    /** Adds an entry; durable when it resolves, idempotent on the key. **Errors** — `E_OUTBOX_FULL`. */
    async add(instance: AgentAddress, key: string, value: JsonValue): Promise<void> {
      const add = (queues: InstanceQueues) => queues.addToOutbox(key, value);
      await slots.of(instance).withWriter((writer) => writer.withQueues(add));
    },
    /**
     * Lists the entries, oldest first. The key of an answer that a caller waits for is the id of its turn
     * (`decodeReply`).
     */
    async pending(instance: AgentAddress): Promise<readonly QueueEntry[]> {
      const slot = slots.of(instance);
      const writer = await slot.ownedWriter();
      if (writer) return writer.withQueues(async (queues) => queues.outbox);
      return readQueue(ports, slot.paths.outbox);
    },
    async acknowledge(instance: AgentAddress, key: string): Promise<void> {
      const acknowledge = (queues: InstanceQueues) => queues.acknowledge(key);
      await slots.of(instance).withWriter((writer) => writer.withQueues(acknowledge));
    },
  };
}
