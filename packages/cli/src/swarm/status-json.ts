import type { SwarmStatus } from '@goondan/runtime';

/**
 * Creates the output of `gdn status --json`. `undefined` means that the swarm does not run. Fields may be added, but
 * are never renamed.
 */
export function statusJson(status: SwarmStatus | undefined) {
  if (status === undefined) return { running: false, agents: [] };
  const { swarm, pid, startedAt, instances, connections } = status;
  // Every instance has the field `pid`, which is `null` when the instance has no process.
  const agents = instances.map(({ agent, pid: own = null, ...instance }) => ({ agent, pid: own, ...instance }));
  return { running: true, pid, swarm, startedAt, agents, connections };
}
