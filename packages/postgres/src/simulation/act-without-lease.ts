/** What a node tries that has lost its lease and does not know it. Nothing of it may succeed. */
import type { AgentAddress } from '@goondan/types';
import { codeOf } from '../testing/code-of.ts';
import type { SimulatedNode } from './simulated-node.ts';

/** How the node notices that it has no lease; with `leave`, not at all. */
export const notices = ['renew', 'claim', 'leave'] as const;

/** Throws if the node succeeds. */
export async function actWithoutLease(
  node: SimulatedNode,
  instances: readonly AgentAddress[],
  notice: (typeof notices)[number],
): Promise<void> {
  const { placement, lease } = node;
  for (const instance of instances) await codeOf(node.release(instance));
  if (lease) refuse('write of the folder', await codeOf(lease.writeFolder(Buffer.from('late'))));
  if (notice === 'renew') await placement.renew();
  if (notice === 'renew' && !placement.isOver) throw new Error('a lease that has ended was renewed');
  const unclaimed = { agentName: 'coder', instanceKey: 'unclaimed' };
  if (notice === 'claim') refuse('claim', await codeOf(placement.claim(unclaimed)));
  await placement.leave();
}

function refuse(act: string, code: string | undefined): void {
  if (code !== 'E_FENCED') throw new Error(`a ${act} without a lease ended with ${code ?? 'success'}`);
}
