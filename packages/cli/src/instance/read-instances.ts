/** Reads the instances of a workspace from disk, and their status from a running swarm. */
import type { InstanceAddress, InstanceStatus } from '@goondan/runtime';
import { toAgentAddress, toInstanceAddress } from '@goondan/runtime/control';
import type { ConversationSnapshot, Directory, InstanceSummary, StoreReader } from '@goondan/runtime/history';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import type { SwarmPlace } from '../swarm/swarm-place.ts';
import { nameHistory } from './name-history.ts';
import { unknownInstance } from './unknown-instance.ts';
import { type StorePlace, withStore } from './with-store.ts';

/** An item of `gdn instance list --json`. Fields may be added, but are never renamed. */
export interface ListedInstance extends InstanceAddress {
  readonly status: InstanceStatus['status'];
  /** The number of messages; `null` when the files cannot be read. */
  readonly messages: number | null;
  /** `null` before the first turn. */
  readonly updatedAt: string | null;
  /** The number of accepted inputs that are not handled yet; absent when it is 0. */
  readonly inputs?: number;
  /** Why the instance does not start; absent when it starts. */
  readonly problem?: string;
}

/** Lists the instances, sorted by agent and key. **Errors** — those of the store and of the control socket. */
export async function listInstances(place: SwarmPlace): Promise<ListedInstance[]> {
  const statuses = await readStatuses(place);
  return withStore(place, [], async ({ directory }) => {
    // Each key is made once, because there may be many instances.
    const named = (await directory.instances()).map((at) => ({ at, name: keyOf(at) }));
    const sorted = named.toSorted((one, other) => (one.name < other.name ? -1 : 1));
    return Promise.all(sorted.map(({ at }) => describe(directory, at, statuses)));
  });
}

/** **Errors** — `E_INSTANCE_UNKNOWN`; those of the store. */
export function readInstance(place: SwarmPlace, at: AgentAddress): Promise<ConversationSnapshot> {
  return withInstance(place, at, ({ history }) => history.read(at));
}

/** **Errors** — `E_INSTANCE_UNKNOWN`; those of the store. */
export async function withInstance<Value>(
  place: StorePlace,
  at: AgentAddress,
  read: (store: StoreReader) => Promise<Value>,
): Promise<Value> {
  const found = await withStore(place, undefined, async (store) => {
    const known = await store.directory.instances();
    if (!known.some((each) => keyOf(each) === keyOf(at))) throw await missing(store, at, known);
    return { value: await nameHistory(at, () => read(store)) };
  });
  if (found === undefined) throw unknownInstance(at, []);
  return found.value;
}

/**
 * Returns the error for an instance that is not in the list. If its folder exists but is damaged, returns the error
 * about the damage.
 */
async function missing(
  { directory, history }: StoreReader,
  at: AgentAddress,
  known: readonly AgentAddress[],
): Promise<unknown> {
  const unknown = unknownInstance(at, known);
  if (!(await directory.has(at))) return unknown;
  return history.read(at).then(
    () => unknown,
    (error: unknown) => error,
  );
}

async function readStatuses(place: SwarmPlace): Promise<ReadonlyMap<string, InstanceStatus>> {
  const swarm = await attachSwarm(place);
  const instances = swarm === undefined ? [] : await swarm.instances();
  return new Map(instances.map((each) => [keyOf(toAgentAddress(each)), each]));
}

/** Describes an instance. If it cannot be read, describes its problem instead. */
async function describe(
  directory: Directory,
  at: AgentAddress,
  statuses: ReadonlyMap<string, InstanceStatus>,
): Promise<ListedInstance> {
  const about = toInstanceAddress(at);
  const { status, problem } = statuses.get(keyOf(at)) ?? {};
  const summary = await readSummary(directory, at);
  if ('problem' in summary) {
    // A running swarm that has not tried to start the instance knows nothing about the damage.
    const known = status === undefined || status === 'asleep' ? 'does not start' : status;
    return { ...about, status: known, messages: null, updatedAt: null, ...summary };
  }
  const { messages, updatedAt, pending } = summary;
  const known = {
    ...about,
    status: status ?? 'asleep',
    messages,
    updatedAt: updatedAt?.toISOString() ?? null,
    ...(pending === 0 ? {} : { inputs: pending }),
  };
  return problem === undefined ? known : { ...known, problem };
}

/** Summarises an instance, or says why its summary cannot be read. The contents are not checked. */
export async function readSummary(
  directory: Pick<Directory, 'summary'>,
  at: AgentAddress,
): Promise<InstanceSummary | { readonly problem: string }> {
  try {
    return await directory.summary(at);
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    return { problem: `${error.code}: ${error.message}` };
  }
}

function keyOf({ agentName, instanceKey }: AgentAddress): string {
  return JSON.stringify([agentName, instanceKey]);
}
