/** Runs the turn of the first event in the queue of a simulated node, also one that an earlier node has begun. */
import type { AgentAddress } from '@goondan/types';
import { messagesOf, simpleRecords } from '../../../runtime/src/workspace/simulation/simulated-turn.ts';
import type { Agent, SimulatedNode } from './simulated-node.ts';

/** `meanwhile` is called before the commit. Returns false if there is no event. */
export async function runNextTurn(
  { orchestrator }: Pick<SimulatedNode, 'orchestrator'>,
  { turns }: Pick<Agent, 'turns'>,
  instance: AgentAddress,
  meanwhile: () => Promise<unknown> = async () => undefined,
): Promise<boolean> {
  const [entry] = await orchestrator.pendingEntries(instance);
  if (entry === undefined) {
    await meanwhile();
    return false;
  }
  const turnId = `turn-${entry.event.id}`;
  const { epoch, log, extensionState } = await turns.open(instance, turnId, entry);
  const records = simpleRecords(entry.event.id);
  const left = records.slice(log.length);
  if (left.length > 0) await turns.append(instance, epoch, log.length, left);
  await meanwhile();
  const result = { turnId, finishReason: 'text_response' } as const;
  await turns.commit(
    instance,
    epoch,
    turnId,
    { type: 'append', messages: messagesOf(records) },
    extensionState,
    result,
  );
  return true;
}
