/**
 * Groups messages that are removed together: a single message, or an assistant message with tool calls and their
 * results. Removing whole groups never separates a call from its result.
 */
import type { Message } from '@goondan/types';
import { estimateTokens } from './estimate-tokens.ts';

export interface MessageGroup {
  /** The messages of the group, in the order of the conversation. */
  readonly messages: readonly Message[];
  readonly tokens: number;
  /**
   * True when the group must not be chosen for removal: a message of the group is pinned, or the group is ephemeral and
   * will be removed anyway.
   */
  readonly isFixed: boolean;
}

/** Returns the groups in the order of their first messages. */
export function groupMessages(messages: readonly Message[]): MessageGroup[] {
  const groups: Message[][] = [];
  const callers = new Map<string, Message[]>();
  for (const message of messages) {
    const caller = callerOf(message, callers);
    if (caller !== undefined) {
      caller.push(message);
      continue;
    }
    const group = [message];
    groups.push(group);
    // A model may reuse a call id; then later results belong to the newer call.
    for (const id of callsOf(message)) callers.set(id, group);
  }
  return groups.map((group) => ({
    messages: group,
    tokens: group.reduce((sum, message) => sum + estimateTokens(message), 0),
    isFixed: group.some(isFixed),
  }));
}

/** Returns the group that contains the call which this message answers. */
function callerOf({ data }: Message, callers: ReadonlyMap<string, Message[]>): Message[] | undefined {
  if (data.role !== 'tool') return undefined;
  return data.content.map(({ toolCallId }) => callers.get(toolCallId)).find((group) => group !== undefined);
}

function callsOf({ data }: Message): string[] {
  if (data.role !== 'assistant' || typeof data.content === 'string') return [];
  return data.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : []));
}

function isFixed(message: Message): boolean {
  return message.metadata.pinned === true || message.lifetime !== undefined;
}
