/** The instances of a workspace as they are on disk, and what a running swarm knows about them. */
import { existsSync } from 'node:fs';
import {
  closestName,
  type ConversationSnapshot,
  durableStore,
  type InstanceStatus,
  type Journal,
  workspaceFolder,
} from '@goondan/runtime';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { attachSwarm, type SwarmPlace } from '../swarm/attach-swarm.ts';

/** What `gdn instance list --json` prints of each. Fields are added, never renamed. */
export interface ListedInstance {
  readonly agent: string;
  readonly instanceKey: string;
  readonly status: InstanceStatus['status'];
  readonly messages: number;
  /** `null` while no turn was opened. */
  readonly updatedAt: string | null;
}

/** By agent and key. **Errors** — those of the store and of the control socket. */
export async function listInstances(place: SwarmPlace): Promise<ListedInstance[]> {
  const statuses = await readStatuses(place);
  return (
    await withJournal(place, [], async (journal) => {
      const addresses = await journal.instances();
      return Promise.all(addresses.map(async (at) => describe(at, await journal.summary(at), statuses)));
    })
  ).toSorted(byName);
}

/** **Errors** — `E_INSTANCE_UNKNOWN`; those of the store. */
export async function readInstance(place: SwarmPlace, at: AgentAddress): Promise<ConversationSnapshot> {
  const found = await withJournal(place, undefined, async (journal) => {
    const known = await journal.instances();
    if (!known.some((each) => keyOf(each) === keyOf(at))) throw unknownInstance(at, known);
    return journal.read(at);
  });
  if (found === undefined) throw unknownInstance(at, []);
  return found;
}

/** With what was probably meant: another conversation of that agent, or one of another agent. */
function unknownInstance({ agentName, instanceKey }: AgentAddress, known: readonly AgentAddress[]): GoondanError {
  const keys = known.filter((each) => each.agentName === agentName).map((each) => each.instanceKey);
  const agents = [...new Set(known.map((each) => each.agentName))];
  const meant = keys.length > 0 ? closestName(instanceKey, keys) : closestName(agentName, agents);
  const what = keys.length > 0 ? `no conversation "${instanceKey}"` : 'no conversations';
  return new GoondanError('E_INSTANCE_UNKNOWN', `Agent "${agentName}" has ${what}.`, {
    ...(meant === undefined
      ? {}
      : { suggestion: `Did you mean \`${meant}\`? \`gdn instance list\` shows what there is.` }),
  });
}

/** Reading takes no lock, and a workspace that is not there is not made. */
async function withJournal<Value>(
  place: SwarmPlace,
  nothing: Value,
  read: (journal: Journal) => Promise<Value>,
): Promise<Value> {
  if (!existsSync(workspaceFolder(place.stateRoot, place.workspaceId))) return nothing;
  const journal = await durableStore(place);
  try {
    return await read(journal);
  } finally {
    await journal.close();
  }
}

async function readStatuses(place: SwarmPlace): Promise<ReadonlyMap<string, InstanceStatus['status']>> {
  const swarm = await attachSwarm(place);
  const instances = swarm === undefined ? [] : await swarm.instances();
  return new Map(instances.map((each) => [keyOf(each), each.status]));
}

function describe(
  at: AgentAddress,
  { messages, updatedAt }: Awaited<ReturnType<Journal['summary']>>,
  statuses: ReadonlyMap<string, InstanceStatus['status']>,
): ListedInstance {
  return {
    agent: at.agentName,
    instanceKey: at.instanceKey,
    status: statuses.get(keyOf(at)) ?? 'asleep',
    messages,
    updatedAt: updatedAt?.toISOString() ?? null,
  };
}

function keyOf({ agentName, instanceKey }: AgentAddress): string {
  return JSON.stringify([agentName, instanceKey]);
}

function byName(one: ListedInstance, other: ListedInstance): number {
  const [first, second] = [one, other].map(({ agent, instanceKey }) => JSON.stringify([agent, instanceKey]));
  return (first ?? '') < (second ?? '') ? -1 : 1;
}
