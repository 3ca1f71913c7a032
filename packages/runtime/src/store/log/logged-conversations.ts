/** The conversations of an owner over a log that is kept elsewhere, with the same writer as in files. */
import { type AgentAddress, GoondanError } from '@goondan/types';
import type { ConversationStore } from '../../agent/conversation/conversation-store.ts';
import { systemClock } from '../../ports/clock.ts';
import { keyOf } from '../../workspace/inbox/read-inbox-log.ts';
import { defaultLimits } from '../../workspace/limits.ts';
import type { Answers } from '../answers.ts';
import type { ConversationLog } from '../conversation-log.ts';
import type { AgentStore } from '../store.ts';
import type { LoggedPorts } from './logged-instance.ts';
import { LoggedSlot } from './logged-slot.ts';
import { nameInstance } from './name-instance.ts';

export interface LoggedOptions extends Partial<LoggedPorts> {
  /**
   * Returns the epoch of an instance that certainly has no frame. Such an instance is not read before its first frame. It
   * is asked when an instance is opened, also again after `close`.
   */
  readonly newEpochOf?: (instance: AgentAddress) => number | undefined;
}

/** Opens conversations over a log. The answers are those of the store, which adds them with the commits of their turns. */
export function loggedConversations(
  log: ConversationLog,
  answers: Answers,
  options: LoggedOptions = {},
): Pick<AgentStore, 'conversations' | 'answers' | 'close'> {
  const ports = portsOf(options);
  const slots = new Map<string, LoggedSlot>();

  function slotOf(instance: AgentAddress): LoggedSlot {
    const key = keyOf(instance);
    const known = slots.get(key);
    if (known) return known;
    const slot = new LoggedSlot(log, instance, ports, options.newEpochOf?.(instance));
    slots.set(key, slot);
    return slot;
  }

  const opened = async (instance: AgentAddress) => slotOf(instance).openWriter();
  const running = (instance: AgentAddress) => {
    const writer = slots.get(keyOf(instance))?.writer;
    if (writer) return writer;
    throw new GoondanError('E_STORE_ORDER', `The log of ${nameInstance(instance)} was not opened`);
  };
  const conversations: ConversationStore = {
    open: async (instance, turnId, input) => (await opened(instance)).open(turnId, input),
    append: async (instance, epoch, at, records) => running(instance).append(epoch, at, records),
    commit: async (instance, epoch, turnId, ...turn) => running(instance).commit(epoch, turnId, ...turn),
    commitStates: async (instance, version, states) => (await opened(instance)).commitStates(version, states),
    read: async (instance) => (await opened(instance)).snapshot(),
  };
  return {
    conversations,
    answers,
    async close(instance) {
      const keys = instance ? [keyOf(instance)] : [...slots.keys()];
      for (const key of keys) {
        const slot = slots.get(key);
        slots.delete(key);
        await slot?.close();
      }
    },
  };
}

export function portsOf({
  clock = systemClock,
  limits = defaultLimits,
  node,
  warn = () => undefined,
}: Partial<LoggedPorts>): LoggedPorts {
  return { clock, limits, node, warn };
}
