import type { SwarmStatus } from '@goondan/runtime';
import type { LeftWork } from './left-work.ts';

/**
 * Creates the output of `gdn status --json`. `undefined` means that the swarm does not run; `left` is then the work that
 * it has left. Fields may be added, but are never renamed.
 */
export function statusJson(status: SwarmStatus | undefined, left: readonly LeftWork[] = []) {
  if (status === undefined) return { running: false, agents: [], ...(left.length === 0 ? {} : { left }) };
  const { swarm, pid, startedAt, instances, connections, kept, changes, nodes, oneShot } = status;
  // Every instance has the field `pid`, which is `null` when the instance has no process.
  const agents = instances.map(({ agent, pid: own = null, ...instance }) => ({ agent, pid: own, ...instance }));
  const lists = {
    ...(kept === undefined ? {} : { kept }),
    ...(changes === undefined ? {} : { changes }),
    ...(nodes === undefined ? {} : { nodes }),
    ...(oneShot && { oneShot }),
  };
  return { running: true, pid, swarm, startedAt, agents, connections, ...lists };
}
