import type { JsonValue } from '@goondan/types';
import type { InstanceAddress } from '../../agent/conversation/conversation-store.ts';
import type { InstanceSlots } from '../journal/instance-slots.ts';
import { readQueue, type QueueEntry } from '../lines/durable-queue.ts';
import type { StorePorts } from '../store-ports.ts';

/** Written by the owner of the instance, like the conversation. */
export interface Outbox {
  /** Durable when it resolves; idempotent on the key. **Errors** — `E_OUTBOX_FULL`. */
  add(instance: InstanceAddress, key: string, value: JsonValue): Promise<void>;
  /** Oldest first. The answer of a turn that somebody waits for is here under the turn's id (`decodeReply`). */
  pending(instance: InstanceAddress): Promise<readonly QueueEntry[]>;
  acknowledge(instance: InstanceAddress, key: string): Promise<void>;
}

export function openOutbox(ports: StorePorts, slots: InstanceSlots): Outbox {
  return {
    async add(instance, key, value) {
      const writer = await slots.of(instance).openWriter();
      await writer.withQueues((queues) => queues.addToOutbox(key, value));
    },
    async pending(instance) {
      const slot = slots.of(instance);
      const writer = await slot.ownedWriter();
      if (writer) return writer.withQueues(async (queues) => queues.outbox);
      return readQueue(ports, slot.paths.outbox);
    },
    async acknowledge(instance, key) {
      const writer = await slots.of(instance).openWriter();
      await writer.withQueues((queues) => queues.acknowledge(key));
    },
  };
}
