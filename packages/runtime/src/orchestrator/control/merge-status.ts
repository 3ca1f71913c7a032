/** Merges the statuses of the nodes of a swarm into one. */
import { defined } from '../../json/defined.ts';
import type { ConnectionStatus, InstanceStatus, NodeStatus, SwarmStatus } from '../../control/swarm.ts';
import type { ClusterNode } from '../../store/cluster-store.ts';
import type { NodeAnswer } from './other-nodes.ts';

export interface OfNode<Value> {
  readonly node: string;
  readonly value: Value;
}

/** Returns the answers of the nodes that answered. */
export function answered<Value>(answers: readonly NodeAnswer<Value>[]): readonly OfNode<Value>[] {
  return answers.flatMap(({ node: { name }, value }) => (value === undefined ? [] : [{ node: name, value }]));
}

/** Returns the status of the first node, with the instances and connections of all. */
export function mergeStatus(
  own: OfNode<SwarmStatus>,
  others: readonly NodeAnswer<SwarmStatus>[],
  nodes: readonly ClusterNode[],
): SwarmStatus {
  const all = [own, ...answered(others)];
  const problems = new Map(others.map(({ node, problem }) => [node.name, problem]));
  const answers = new Map(all.map(({ node, value }) => [node, value]));
  const kept = all.flatMap(({ value }) => value.kept ?? []);
  const { missing: _, ...status } = own.value;
  return {
    ...status,
    instances: mergeInstances(all.map(({ node, value }) => ({ node, value: value.instances }))),
    connections: mergeConnections(all.map(({ node, value }) => ({ node, value: value.connections }))),
    ...(kept.length === 0 ? {} : { kept }),
    nodes: nodes.map((node) => describeNode(node, problems.get(node.name), answers.get(node.name))),
  };
}

/** Lists each instance once: as the node that runs it sees it, or else as the store does. */
export function mergeInstances(all: readonly OfNode<readonly InstanceStatus[]>[]): readonly InstanceStatus[] {
  const merged = new Map<string, InstanceStatus>();
  for (const { node, value } of all) {
    for (const instance of value) {
      const key = JSON.stringify([instance.agent, instance.instanceKey]);
      const there = merged.get(key);
      if (there !== undefined && rank(there) >= rank(instance)) continue;
      merged.set(key, instance.status === 'asleep' ? instance : { node, ...instance });
    }
  }
  return [...merged.values()];
}

function rank({ status, pid }: InstanceStatus): number {
  if (status === 'asleep') return 0;
  return pid === undefined ? 1 : 2;
}

/** Lists each connection at the nodes that run it; at one node, if none does. */
function mergeConnections(all: readonly OfNode<readonly ConnectionStatus[]>[]): readonly ConnectionStatus[] {
  const merged = new Map<string, ConnectionStatus[]>();
  for (const { node, value } of all) {
    for (const connection of value) {
      const there = merged.get(connection.connection) ?? [];
      merged.set(connection.connection, [...there, { ...connection, node }]);
    }
  }
  return [...merged.values()].flatMap((statuses) => {
    const running = statuses.filter(({ pid, status }) => pid !== undefined || status === 'listening');
    return running.length > 0 ? running : statuses.slice(0, 1);
  });
}

/** The row of a node has the counts of its last renewal, so those of its answer come first. */
function describeNode(
  { name, version, since, control, load, instances, isDraining }: ClusterNode,
  problem: string | undefined,
  answer: SwarmStatus | undefined,
): NodeStatus {
  const awake = answer?.instances.filter(({ status }) => status !== 'asleep');
  return {
    name,
    version,
    since: since.toISOString(),
    processes: awake?.filter(({ pid }) => pid !== undefined).length ?? load,
    // A node also owns conversations that sleep. Only its row counts these.
    instances: Math.max(instances, awake?.length ?? 0),
    ...defined({ address: control?.address, isDraining: isDraining || undefined, missing: answer?.missing, problem }),
  };
}
