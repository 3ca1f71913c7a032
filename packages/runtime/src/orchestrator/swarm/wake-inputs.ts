/** Handles inputs that were accepted before this orchestrator started, or before some agents were declared. */
import type { AgentAddress } from '@goondan/types';
import type { NodeStore } from '../../store/store.ts';
import { addressKey } from '../address/address-key.ts';
import type { Questions } from '../questions/questions.ts';
import type { Instances } from '../instances/instances.ts';
import type { OwnedInstances } from '../instances/owned-instances.ts';
import type { Report } from '../instances/swarm-listener.ts';
import { readPendingInputs, sourceOf } from '../router/read-pending-inputs.ts';
import type { UnreadInboxes } from '../router/unread-inboxes.ts';

export interface WakeInputsDeps {
  readonly store: Pick<NodeStore, 'directory' | 'inbox'>;
  readonly owned: Pick<OwnedInstances, 'claim'>;
  readonly instances: Pick<Instances, 'remember' | 'post'>;
  readonly unread: Pick<UnreadInboxes, 'add' | 'has'>;
  readonly questions: Pick<Questions, 'dropUnless'>;
  /** The agents that are declared now. */
  readonly agents: readonly string[];
  readonly report: Report;
}

/** Returns the number of events. `only`: handles only the inputs of these agents. */
export async function wakeInputs(
  { store, owned, instances, unread, questions, agents, report }: WakeInputsDeps,
  only: ReadonlySet<string> | undefined,
): Promise<number> {
  let woken = 0;
  const open = new Set<string>();
  for (const { address, entries: pending, problem } of await readPendingInputs(sourceOf(store), only)) {
    instances.remember(address);
    if (problem !== undefined) unread.add(address, problem);
    for (const { event } of pending) open.add(eventKey(address, event.id));
    if (pending.length === 0) continue;
    if (!agents.includes(address.agentName)) {
      const message = `${pending.length} accepted events wait for an agent that the swarm no longer has.`;
      report('warn', 'agent.undeclared', message, address);
      continue;
    }
    if (!(await owned.claim(address))) continue;
    for (const entry of pending) instances.post(address, { type: 'work', ...entry });
    woken += pending.length;
  }
  const mayWait = (at: AgentAddress, id: string) => open.has(eventKey(at, id)) || unread.has(at);
  if (only === undefined) questions.dropUnless(mayWait);
  return woken;
}

function eventKey(at: AgentAddress, eventId: string): string {
  return JSON.stringify([addressKey(at), eventId]);
}
