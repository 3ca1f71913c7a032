/**
 * Builds the view of one workspace: from its files, the status of its running swarm, and its bundle's declarations, if
 * known.
 */
import type { InstanceAddress, InstanceStatus } from '@goondan/runtime';
import { toInstanceAddress } from '@goondan/runtime/control';
import type { Directory, StoreReader } from '@goondan/runtime/history';
import { type AgentAddress, GoondanError } from '@goondan/types';
import { withStore } from '../../instance/with-store.ts';
import { readStoppedQuestions } from '../../question/read-stopped-questions.ts';
import { attachSwarm } from '../../swarm/attach-swarm.ts';
import { openReader, type SwarmPlace } from '../../swarm/swarm-place.ts';
import { hasSocket } from '../../swarm/read-status.ts';
import type { InstanceView, WorkspaceView } from '../contract.ts';
import { findStartCommand } from '../start-anywhere.ts';
import type { StudioHost } from '../studio-host.ts';
import { viewAgents } from './view-agents.ts';
import { listOfWorkspace } from './view-changesets.ts';
import { viewQuestion } from './view-question.ts';

/** The maximum number of conversations shown; the oldest are only counted. */
const MOST_SHOWN = 500;
/** The number of recorded turns that are read to mark failed conversations. */
const MOST_TURNS = 1_000;
/** The number of conversations read before other work gets a chance to run. */
const AT_ONCE = 50;
const PATIENCE_MS = 5_000;

export async function viewWorkspace(host: StudioHost, place: SwarmPlace): Promise<WorkspaceView> {
  const running = await askSwarm(place);
  const asked = running ?? (await readStoppedQuestions(place, host.warn));
  const conversations = await readConversations(place, running?.instances ?? [], host);
  const opened = host.opened?.workspaceId === place.workspaceId ? host.opened : undefined;
  const declared = await opened?.readAgents().catch(() => undefined);
  const command = await findStartCommand(host, place);
  const { status } = running ?? {};
  const [newest] = conversations;
  const entryAgent = status?.entryAgent ?? declared?.entryAgent;
  const reader = await openReader(place);
  const swarm = status?.swarm ?? opened?.swarm ?? (await reader.directory.swarm())?.swarm;
  const failed = await findFailed(reader, host, place);
  const changesets = await listOfWorkspace(place, host.warn);
  return {
    workspaceId: place.workspaceId,
    ...(swarm !== undefined && { swarm }),
    isRunning: status !== undefined,
    instances: conversations.length,
    ...(newest?.updatedAt && { updatedAt: newest.updatedAt }),
    ...(status && { pid: status.pid, startedAt: status.startedAt }),
    ...(entryAgent !== undefined && { entryAgent }),
    agents: await viewAgents(place, declared, [...(status?.agents ?? []), ...conversations.map(({ agent }) => agent)]),
    conversations: conversations
      .slice(0, MOST_SHOWN)
      .map((each) => (failed.has(keyOf(each)) ? { ...each, failed: true } : each)),
    connections: status?.connections ?? [],
    questions: asked.questions.map(viewQuestion),
    grants: asked.grants,
    deadLetters: running?.deadLetters ?? [],
    ...(status?.changes !== undefined && { changes: status.changes }),
    ...(changesets.length > 0 && { changesets }),
    ...(status?.kept !== undefined && { kept: status.kept }),
    ...(command !== undefined && { startCommand: command }),
  };
}

/** Returns the conversations whose last recorded turn failed; none if traces cannot be read, which is a warning. */
async function findFailed(
  { traces }: StoreReader,
  { warn }: StudioHost,
  { workspaceId }: SwarmPlace,
): Promise<ReadonlySet<string>> {
  const turns = await traces.list({ last: MOST_TURNS }).catch((error: unknown) => {
    if (!GoondanError.is(error)) throw error;
    warn({ path: workspaceId, message: error.message });
    return [];
  });
  const ended = turns.filter(({ ending }) => ending !== undefined).toReversed();
  const endings = new Map(
    ended.map(({ agentName: agent, instanceKey, ending }) => [keyOf({ agent, instanceKey }), ending]),
  );
  return new Set([...endings].flatMap(([key, ending]) => (ending === 'failed' ? [key] : [])));
}

/** Returns `undefined` when no swarm runs, or when the swarm stops or does not answer. */
async function askSwarm(place: SwarmPlace) {
  if (!hasSocket(place)) return undefined;
  try {
    const swarm = await attachSwarm(place, { silenceMs: PATIENCE_MS });
    if (swarm === undefined) return undefined;
    const [status, instances, questions, grants, deadLetters] = await Promise.all([
      swarm.status(),
      swarm.instances(),
      swarm.questions(),
      swarm.grants(),
      swarm.deadLetters(),
    ]);
    return { status, instances, questions, grants, deadLetters };
  } catch (error) {
    if (GoondanError.is(error)) return undefined;
    throw error;
  }
}

/** Lists conversations, newest first. If a conversation cannot be read, it is listed with its problem. */
async function readConversations(
  place: SwarmPlace,
  running: readonly InstanceStatus[],
  { warn }: StudioHost,
): Promise<InstanceView[]> {
  const statuses = new Map(running.map((each) => [keyOf(each), each]));
  const onDisk = await withStore({ ...place, warn }, [], async ({ directory }) => {
    const addresses = await directory.instances();
    const views: InstanceView[] = [];
    for (let from = 0; from < addresses.length; from += AT_ONCE) {
      const some = addresses.slice(from, from + AT_ONCE);
      views.push(
        ...(await Promise.all(
          some.map((at) => viewInstance(directory, at, statuses.get(keyOf(toInstanceAddress(at))))),
        )),
      );
      await new Promise((resolve) => void setImmediate(resolve));
    }
    return views;
  });
  const known = new Set(onDisk.map(({ agent, instanceKey }) => JSON.stringify([agent, instanceKey])));
  const others = running.filter((each) => !known.has(keyOf(each))).map((each) => describe(each, each, nothingYet));
  return [...onDisk, ...others].toSorted(byUse);
}

const nothingYet = { messages: 0, updatedAt: null };

async function viewInstance(
  directory: Directory,
  at: AgentAddress,
  status: InstanceStatus | undefined,
): Promise<InstanceView> {
  try {
    const { messages, updatedAt, pending } = await directory.summary(at);
    return describe(toInstanceAddress(at), status, {
      messages,
      updatedAt: updatedAt?.toISOString() ?? null,
      queued: pending,
    });
  } catch (error) {
    if (!GoondanError.is(error)) throw error;
    return { ...describe(toInstanceAddress(at), status, nothingYet), problem: `${error.code}: ${error.message}` };
  }
}

function describe(
  { agent, instanceKey }: InstanceAddress,
  running: InstanceStatus | undefined,
  { messages, updatedAt, queued = 0 }: Pick<InstanceView, 'messages' | 'updatedAt'> & { readonly queued?: number },
): InstanceView {
  return {
    agent,
    instanceKey,
    status: running?.status ?? 'asleep',
    messages,
    updatedAt,
    queued: running?.queued ?? queued,
    crashes: running?.crashes ?? 0,
    ...(running?.problem !== undefined && { problem: running.problem }),
    ...(running?.extensions !== undefined && { extensions: running.extensions }),
  };
}

function byUse(one: InstanceView, other: InstanceView): number {
  const [first, second] = [one, other].map(({ updatedAt }) => updatedAt ?? '');
  if (first !== second) return (first ?? '') > (second ?? '') ? -1 : 1;
  return JSON.stringify([one.agent, one.instanceKey]) < JSON.stringify([other.agent, other.instanceKey]) ? -1 : 1;
}

function keyOf({ agent, instanceKey }: InstanceAddress): string {
  return JSON.stringify([agent, instanceKey]);
}
