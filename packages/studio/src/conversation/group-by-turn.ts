import type { ShownMessage } from './message-parts.ts';

export interface TurnGroup {
  readonly turnId: string;
  readonly messages: readonly ShownMessage[];
}

/** Groups consecutive messages by turn. A message that another turn replaced belongs to that turn. */
export function groupByTurn(messages: readonly ShownMessage[]): readonly TurnGroup[] {
  const groups: { turnId: string; messages: ShownMessage[] }[] = [];
  for (const message of messages) {
    const group = groups.at(-1);
    if (group?.turnId === message.turnId) group.messages.push(message);
    else groups.push({ turnId: message.turnId, messages: [message] });
  }
  return groups;
}
