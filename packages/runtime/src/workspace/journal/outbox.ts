import type { AgentAddress, JsonValue } from '@goondan/types';
import type { InstanceQueues } from './instance-queues.ts';
import type { InstanceSlots } from './instance-slots.ts';
import { readQueue, type QueueEntry } from '../lines/durable-queue.ts';
import type { StorePorts } from '../store-ports.ts';

/** Answers that are not fetched yet. The owner of the instance writes it, like the conversation. */
export interface Outbox {
  /** Adds an entry; durable when it resolves, idempotent on the key. **Errors** — `E_OUTBOX_FULL`. */
  add(instance: AgentAddress, key: string, value: JsonValue): Promise<void>;
  /**
   * Lists the entries, oldest first. An answer that a caller waits for has the id of its turn as key (`decodeReply`).
   */
  pending(instance: AgentAddress): Promise<readonly QueueEntry[]>;
  acknowledge(instance: AgentAddress, key: string): Promise<void>;
}

export function openOutbox(ports: StorePorts, slots: InstanceSlots): Outbox {
  return {
    async add(instance, key, value) {
      const add = (queues: InstanceQueues) => queues.addToOutbox(key, value);
      await slots.of(instance).withWriter((writer) => writer.withQueues(add));
    },
    async pending(instance) {
      const slot = slots.of(instance);
      const writer = await slot.ownedWriter();
      if (writer) return writer.withQueues(async (queues) => queues.outbox);
      return readQueue(ports, slot.paths.outbox);
    },
    async acknowledge(instance, key) {
      const acknowledge = (queues: InstanceQueues) => queues.acknowledge(key);
      await slots.of(instance).withWriter((writer) => writer.withQueues(acknowledge));
    },
  };
}
