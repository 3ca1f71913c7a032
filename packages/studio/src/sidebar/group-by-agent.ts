import type { InstanceView, WorkspaceView } from '@goondan/cli/studio';

/** Tells whether a conversation needs a person because its last turn failed, or its agent does not start. */
export function hasFailed({ failed, problem, crashes }: InstanceView): boolean {
  return failed === true || problem !== undefined || crashes > 0;
}

/**
 * Groups conversations by agent, newest first within each agent. The agents have the order of the swarm, so that groups
 * do not move while agents work. `onlyFailed`: leaves out conversations whose last turn did not fail.
 */
export function groupByAgent(
  view: Pick<WorkspaceView, 'conversations' | 'agents'> | undefined,
  onlyFailed = false,
): readonly (readonly [string, InstanceView[]])[] {
  const groups = new Map<string, InstanceView[]>(view?.agents.map(({ name }) => [name, []]));
  for (const conversation of view?.conversations ?? []) {
    if (onlyFailed && !hasFailed(conversation)) continue;
    const group = groups.get(conversation.agent);
    if (group === undefined) groups.set(conversation.agent, [conversation]);
    else group.push(conversation);
  }
  return [...groups].filter(([, conversations]) => conversations.length > 0);
}
