import type { ShownMessage } from './message-parts.ts';

export interface TurnGroup {
  readonly turnId: string;
  readonly messages: readonly ShownMessage[];
}

/** Groups consecutive messages by turn. A message that a later turn replaced belongs to the later turn. */
export function groupByTurn(messages: readonly ShownMessage[]): readonly TurnGroup[] {
  const groups: { turnId: string; messages: ShownMessage[] }[] = [];
  for (const message of messages) {
    const group = groups.at(-1);
    if (group?.turnId === message.turnId) group.messages.push(message);
    else groups.push({ turnId: message.turnId, messages: [message] });
  }
  return groups;
}
