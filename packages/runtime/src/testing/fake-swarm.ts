/** A swarm of agents without processes, on a real disk, for tests of the orchestrator. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type AgentEvent, createAssistantMessage } from '@goondan/types';
import type { SwarmPlan } from '../config/swarm-plan.ts';
import type { SwarmPolicy } from '../config/swarm-policy.ts';
import { agentChildren } from '../orchestrator/child/agent-children.ts';
import type { TurnEnd } from '../control/swarm.ts';
import type { Keepers } from '../orchestrator/keepers/keepers.ts';
import { CurrentPlan } from '../orchestrator/plan/current-plan.ts';
import { SwarmAgents, type SwarmDeps } from '../orchestrator/swarm/swarm-agents.ts';
import { type Clock, systemClock } from '../ports/clock.ts';
import { systemFs } from '../ports/fs.ts';
import { randomIds } from '../ports/ids.ts';
import type { LogLine } from '../ports/log-line.ts';
import { systemProcesses } from '../ports/processes.ts';
import type { Spawn } from '../ipc/spawn.ts';
import { fileCounters } from '../store/files/file-counters.ts';
import { nodeStoreOf } from '../store/files/open-node-store.ts';
import type { Placement } from '../store/placement.ts';
import type { NodeStore } from '../store/store.ts';
import { QuestionFile } from '../workspace/questions/question-file.ts';
import { durableStore } from '../workspace/journal/durable-store.ts';
import type { Journal } from '../workspace/journal/journal.ts';
import { type FakeAgents, fakeAgents, type FakeAnswer, fakeUsage } from './fake-agents.ts';
import type { FakeSpawnOptions } from './fake-spawn.ts';
import type { MemoryCluster } from './memory-cluster.ts';

export interface FakeSwarm {
  readonly swarm: SwarmAgents;
  readonly currentPlan: CurrentPlan;
  readonly journal: Journal;
  /** The seams of the swarm, over `journal`. */
  readonly store: NodeStore;
  readonly agents: FakeAgents;
  /** The log lines so far. */
  readonly lines: readonly LogLine[];
  readonly stateRoot: string;
  /** Delivers an event to an agent and waits for the end of the turn. */
  readonly send: (agentName: string, input: string, options?: Partial<AgentEvent>) => Promise<TurnEnd>;
  /** Ends the swarm at once, and keeps its folder. */
  readonly close: () => Promise<void>;
}

export interface FakeSwarmOptions {
  readonly policy?: SwarmPolicy;
  /** The secrets that every agent has. */
  readonly secrets?: readonly string[];
  /** The state root of an earlier swarm, which this swarm continues. */
  readonly stateRoot?: string;
  /** The clock of the swarm and its agents. The disk uses its own clock. */
  readonly clock?: Clock;
  /** The function that starts the children. When absent, the children are fake agents that use `answer`. */
  readonly spawn?: Spawn;
  /** Called before each message to a fake agent. */
  readonly beforeSend?: FakeSpawnOptions['beforeSend'];
  /** The keepers of kept connections; none when absent. */
  readonly keepers?: Pick<Keepers, 'attach' | 'retain' | 'settle'> &
    Partial<Pick<Keepers, 'endConversation' | 'worksIn'>>;
  /** Replaces seams of the store; the files are used as they are when absent. */
  readonly wrap?: (store: NodeStore) => NodeStore;
  /** The shared store of several nodes, and the name of this one. */
  readonly cluster?: { readonly of: MemoryCluster; readonly node: string };
  /** Serves the conversations of a store that is elsewhere; absent on files. */
  readonly served?: NonNullable<SwarmDeps['served']>;
  /** The models that every agent has. */
  readonly models?: SwarmPlan['agents'][number]['models'];
}

/** The placement of a node that is alone and never loses its place. */
const onlyNode: Placement = {
  node: 'test',
  claim: async () => true,
  release: async () => undefined,
  check: () => undefined,
  onLost: () => undefined,
  nodes: async () => [{ name: 'test', since: new Date(0) }],
  leave: async () => undefined,
};

const quick: SwarmPolicy = { restart: { quickCrashes: 100, baseMs: 1, maxMs: 5 }, spares: 0 };

/** Opens a swarm with the agents `a` to `e`. The caller must remove the swarm's folder. */
export async function openFakeSwarm(answer: FakeAnswer, options: FakeSwarmOptions = {}): Promise<FakeSwarm> {
  const { policy, secrets = [], stateRoot = mkdtempSync(join(tmpdir(), 'goondan-swarm-')) } = options;
  const { clock = systemClock, beforeSend } = options;
  const location = { stateRoot, workspaceId: 'test' };
  const ports = { fs: systemFs, clock: systemClock, processes: systemProcesses, warn: () => undefined };
  const journal = await durableStore({ ...location, warn: () => undefined });
  const questions = await QuestionFile.open(ports, location);
  const file = { save: async () => undefined };
  const counters = fileCounters({ clock, placement: onlyNode, file, states: [], warn: () => undefined });
  const files = nodeStoreOf(location, { journal, questions, counters }, onlyNode);
  const joined = options.cluster?.of.join(options.cluster.node);
  const store = options.wrap?.(files) ?? { ...files, ...joined };
  const agents = fakeAgents(options.cluster === undefined ? answer : committing(answer, options.cluster), {
    clock,
    ...(beforeSend && { beforeSend }),
  });
  const { models = { 'Model/m': { provider: 'scripted', model: 'none' } } } = options;
  const plan: SwarmPlan = {
    name: 'test',
    agents: ['a', 'b', 'c', 'd', 'e'].map((agentName) => ({ agentName, models, secrets })),
    policy: { ...quick, ...policy },
  };
  const currentPlan = new CurrentPlan(plan);
  const { settings } = currentPlan.value;
  const children = agentChildren({
    spawn: options.spawn ?? agents.spawn,
    runner: 'none',
    folder: stateRoot,
    restart: settings.supervision.restart,
    clock,
    spares: settings.spares,
  });
  const lines: LogLine[] = [];
  const swarm = new SwarmAgents({
    currentPlan,
    store,
    requests: await store.questions.list(),
    ids: randomIds,
    clock,
    location,
    ...(joined && { cluster: joined }),
    ...(options.served && { served: options.served }),
    startChild: (agent, request) => children.start(agent, request),
    startShared: (agent, request) => children.startShared(agent, request),
    // The cast is safe: a swarm calls only these methods of its keepers, and `endConversation` only for resets and
    // deletions.
    ...(options.keepers === undefined ? {} : { keepers: { worksIn: () => false, ...options.keepers } as Keepers }),
    log: (line) => void lines.push(line),
    described: () => undefined,
  });
  return {
    swarm,
    currentPlan,
    journal,
    store,
    agents,
    lines,
    stateRoot,
    send: async (agentName, input, given) => {
      const event = fakeEvent(input, given);
      const to = { agentName, instanceKey: event.instanceKey };
      const { end } = swarm.waiters.wait(to, event.id);
      await swarm.accept(to, event, true);
      return end;
    },
    close: async () => {
      await swarm.drain(0, AbortSignal.abort());
      await children.close();
      await store.close();
    },
  };
}

/** Commits each answer to the shared store. An answer of a node that does not own the instance is lost. */
function committing(answer: FakeAnswer, { of, node }: NonNullable<FakeSwarmOptions['cluster']>): FakeAnswer {
  return async (turn) => {
    of.begin(turn.at, turn.event);
    const text = await answer(turn);
    if (text === undefined) return undefined;
    const turnId = `turn-${turn.event.id}`;
    const responseMessage = createAssistantMessage(text, {}, { id: `${turnId}.1` });
    try {
      of.commit(node, turn.at, turn.event, { turnId, finishReason: 'text_response', responseMessage }, fakeUsage);
    } catch {
      return undefined;
    }
    return text;
  };
}

export function removeFakeSwarm({ stateRoot }: Pick<FakeSwarm, 'stateRoot'>): void {
  rmSync(stateRoot, { recursive: true, force: true });
}

/** Creates an event with a new id, for the instance `default`. */
export function fakeEvent(input: string, options: Partial<AgentEvent> = {}): AgentEvent {
  return {
    id: `event-${crypto.randomUUID()}`,
    type: 'user.message',
    input,
    instanceKey: 'default',
    source: { kind: 'cli', name: 'test' },
    traceId: '0123456789abcdef0123456789abcdef',
    createdAt: new Date(0),
    ...options,
  };
}
