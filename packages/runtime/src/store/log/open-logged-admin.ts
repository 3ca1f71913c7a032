/** The work on instances that the owner of a log does with the writer of the instance, while it has no process. */
import type { AgentAddress } from '@goondan/types';
import type { InstanceWriter } from '../../workspace/journal/instance-writer.ts';
import { decodeLetter } from '../../workspace/records/dead-letter.ts';
import type { ConversationLog, StoredLog } from '../conversation-log.ts';
import type { DeadLetters, InstanceAdmin } from '../instance-admin.ts';
import type { LoggedPorts } from './logged-instance.ts';
import { LoggedSlot } from './logged-slot.ts';
import { portsOf } from './logged-conversations.ts';
import { readStoredLog } from './read-stored-log.ts';

export interface LoggedAdmin extends Pick<InstanceAdmin, 'reset'> {
  readonly deadLetters: DeadLetters;
}

/** Opens the administration for a node. Each call claims nothing, and reads the log first. */
export function openLoggedAdmin(log: ConversationLog, options: Partial<LoggedPorts> = {}): LoggedAdmin {
  const ports = portsOf(options);

  async function withWriter<T>(instance: AgentAddress, action: (writer: InstanceWriter) => Promise<T>): Promise<T> {
    const slot = new LoggedSlot(log, instance, ports);
    try {
      return await action(await slot.openWriter());
    } finally {
      await slot.close();
    }
  }

  return {
    reset: (instance, ending) => withWriter(instance, (writer) => writer.reset(ending)),
    deadLetters: {
      list: async (instance) => (await withWriter(instance, (writer) => writer.letters())).map(decodeLetter),
      drop: (instance, eventId) => withWriter(instance, (writer) => writer.removeLetter(eventId)),
    },
  };
}

/** Lists the dead letters of a log, for readers. **Errors** — those of `readStoredLog`. */
export function lettersOf(instance: AgentAddress, stored: Pick<StoredLog, 'checkpoint' | 'frames'>) {
  return readStoredLog(instance, stored).state.letterEntries.map(decodeLetter);
}
