import type { InstanceView, WorkspaceView } from '@goondan/cli/studio';

/**
 * Groups conversations by agent, newest first within each agent. The agents have the order of the swarm, so that groups
 * do not move while agents work.
 */
export function groupByAgent(
  view: Pick<WorkspaceView, 'conversations' | 'agents'> | undefined,
): readonly (readonly [string, InstanceView[]])[] {
  const groups = new Map<string, InstanceView[]>(view?.agents.map(({ name }) => [name, []]));
  for (const conversation of view?.conversations ?? []) {
    const group = groups.get(conversation.agent);
    if (group === undefined) groups.set(conversation.agent, [conversation]);
    else group.push(conversation);
  }
  return [...groups].filter(([, conversations]) => conversations.length > 0);
}
