import type { SwarmStatus } from '@goondan/runtime';

/** Makes the output of `gdn status --json`. `undefined`: it does not run. Fields are added, never renamed. */
export function statusJson(status: SwarmStatus | undefined) {
  if (status === undefined) return { running: false, agents: [] };
  const { swarm, pid, startedAt, instances, connections } = status;
  // Every instance has every field: `pid` is `null` without a process.
  const agents = instances.map(({ agent, pid: own = null, ...instance }) => ({ agent, pid: own, ...instance }));
  return { running: true, pid, swarm, startedAt, agents, connections };
}
