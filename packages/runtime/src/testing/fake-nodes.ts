/** Nodes of one swarm for tests: fake agents, and a shared store in memory whose leases the test ends by hand. */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { FakeAnswer } from './fake-agents.ts';
import { fakeEvent, type FakeSwarm, type FakeSwarmOptions, openFakeSwarm, removeFakeSwarm } from './fake-swarm.ts';
import type { MemoryCluster } from './memory-cluster.ts';

const opened: FakeSwarm[] = [];

export async function openFakeNode(
  of: MemoryCluster,
  node: string,
  answer: FakeAnswer,
  options: Pick<FakeSwarmOptions, 'policy' | 'clock' | 'beforeSend'> = {},
): Promise<FakeSwarm> {
  const swarm = await openFakeSwarm(answer, { ...options, cluster: { of, node } });
  opened.push(swarm);
  return swarm;
}

/** Ends all nodes, the newest first. Call it after each test. */
export async function closeFakeNodes(): Promise<void> {
  for (const swarm of opened.splice(0).toReversed()) {
    await swarm.close();
    removeFakeSwarm(swarm);
  }
}

export const at = (agentName: string, instanceKey = 'default'): AgentAddress => ({ agentName, instanceKey });

export const never = () => new Promise<undefined>(() => undefined);

/** Lists the ids of the pending events of an instance. */
export const pendingOf = ({ swarm }: MemoryCluster, address: AgentAddress) =>
  swarm.inputOf(address).pending.map(({ event }) => event.id);

/** Delivers an event at a node, without waiting for its turn. */
export async function deliver(
  { swarm }: FakeSwarm,
  to: AgentAddress,
  given: Partial<AgentEvent> = {},
): Promise<AgentEvent> {
  const event = fakeEvent('hello', { instanceKey: to.instanceKey, ...given });
  await swarm.accept(to, event, false);
  return event;
}
