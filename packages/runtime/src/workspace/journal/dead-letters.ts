import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { InstanceSlots } from './instance-slots.ts';
import { decodeLetter, retryOf, type DeadLetter } from '../records/dead-letter.ts';
import { readState } from '../records/read-log.ts';

/** Events that were given up. When a turn is committed with the error code `E_DEAD_LETTER`, its event is added here. */
export function openDeadLetters(
  slots: InstanceSlots,
  accept: (instance: AgentAddress, event: AgentEvent) => Promise<unknown>,
) {
  const list = async (instance: AgentAddress): Promise<readonly DeadLetter[]> => {
    const slot = slots.of(instance);
    const writer = await slot.ownedWriter();
    const letters = writer ? await writer.letters() : ((await readState(slot.stored))?.state.letterEntries ?? []);
    return letters.map(decodeLetter);
  };
  const drop = async (instance: AgentAddress, eventId: string): Promise<void> => {
    await slots.of(instance).withWriter((writer) => writer.removeLetter(eventId));
  };
  return {
    list,
    drop,
    /**
     * Accepts the event again, with the id `<id>~retry`, and removes the dead letter. Returns false when no letter has
     * this id.
     */
    async retry(instance: AgentAddress, eventId: string): Promise<boolean> {
      const letter = (await list(instance)).find(({ event }) => event.id === eventId);
      if (!letter) return false;
      // Accept first, then remove. After a crash in between, the letter still exists, and accepting the same id again
      // changes nothing.
      await accept(instance, retryOf(letter));
      await drop(instance, eventId);
      return true;
    },
  };
}
