import type { SwarmStatus } from '@goondan/runtime';

/** For people: the swarm, and a line for each instance and connection. */
export function describeStatus({ swarm, pid, startedAt, instances, connections }: SwarmStatus): string {
  const lines = [
    `Swarm "${swarm}" runs in process ${pid} since ${startedAt}.`,
    ...instances.map(({ agentName, instanceKey, status, pid: own, queued, problem, approvals }) =>
      line(
        `${agentName} (${instanceKey})`,
        approvals === undefined ? status : `waiting for approval (${approvals}, see \`gdn approve\`)`,
        own,
        queued === 0 ? undefined : `${queued} queued`,
        problem,
      ),
    ),
    ...connections.map(({ connection, status, pid: own, problem }) =>
      line(connection, status, own, undefined, problem),
    ),
  ];
  return `${lines.join('\n')}\n`;
}

function line(who: string, status: string, pid: number | undefined, ...more: (string | undefined)[]): string {
  const process = pid === undefined ? undefined : `process ${pid}`;
  return `  ${[`${who}: ${status}`, process, ...more].filter((part) => part !== undefined).join(', ')}`;
}
