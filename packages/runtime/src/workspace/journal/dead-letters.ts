import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { InstanceQueues } from './instance-queues.ts';
import type { InstanceSlots } from './instance-slots.ts';
import { readQueue } from '../lines/durable-queue.ts';
import type { StorePorts } from '../store-ports.ts';
import { decodeLetter, retryOf, type DeadLetter } from '../records/dead-letter.ts';

/** Events that were given up. The commit of a turn with the error code `E_DEAD_LETTER` adds its event. */
export interface DeadLetters {
  list(instance: AgentAddress): Promise<readonly DeadLetter[]>;
  /** Accepts the event again, as `<id>~retry`, and removes the letter. False when there is no letter with this id. */
  retry(instance: AgentAddress, eventId: string): Promise<boolean>;
  drop(instance: AgentAddress, eventId: string): Promise<void>;
}

export function openDeadLetters(
  ports: StorePorts,
  slots: InstanceSlots,
  accept: (instance: AgentAddress, event: AgentEvent) => Promise<unknown>,
): DeadLetters {
  const list: DeadLetters['list'] = async (instance) => {
    const slot = slots.of(instance);
    const writer = await slot.ownedWriter();
    if (writer) return writer.withQueues((queues) => queues.letters());
    return (await readQueue(ports, slot.paths.deadLetters)).map(decodeLetter);
  };
  const drop: DeadLetters['drop'] = async (instance, eventId) => {
    const dropLetter = (queues: InstanceQueues) => queues.dropLetter(eventId);
    await slots.of(instance).withWriter((writer) => writer.withQueues(dropLetter));
  };
  return {
    list,
    drop,
    async retry(instance, eventId) {
      const letter = (await list(instance)).find(({ event }) => event.id === eventId);
      if (!letter) return false;
      // In this order: after a crash in between, the letter is still there, and a second retry changes nothing.
      await accept(instance, retryOf(letter));
      await drop(instance, eventId);
      return true;
    },
  };
}
