import type { InstanceView } from '@goondan/cli/studio';

/** As they are listed: by agent, the one that was used last first, and so within each. */
export function groupByAgent(conversations: readonly InstanceView[]): readonly (readonly [string, InstanceView[]])[] {
  const groups = new Map<string, InstanceView[]>();
  for (const conversation of conversations) {
    const group = groups.get(conversation.agent);
    if (group === undefined) groups.set(conversation.agent, [conversation]);
    else group.push(conversation);
  }
  return [...groups];
}
