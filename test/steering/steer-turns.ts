/**
 * Sends inputs into running turns at random moments, while processes of agents and whole nodes are killed, and then reads
 * the conversations: each input is in its conversation once, the model answered it in its turn, and none is between a tool
 * call and its result.
 */
import { readHistory } from '@goondan/runtime/history';
import type { Message } from '@goondan/types';
import type { Random } from '../../packages/runtime/src/workspace/simulation/seeded-random.ts';
import type { Cluster } from '../cluster/start-cluster.ts';

export interface SteerOptions {
  /** The number of inputs for running turns. */
  readonly inputs: number;
  readonly agentKills: number;
  readonly nodeKills: number;
  readonly random: Random;
}

export interface SteerReport {
  /** All inputs that were acknowledged. */
  readonly inputs: number;
  /** The inputs that a running turn took. */
  readonly taken: number;
  /** The inputs for running turns that had turns of their own. */
  readonly own: number;
  /** Everything that is wrong, in words. */
  readonly problems: readonly string[];
  readonly kills: { readonly agents: number; readonly nodes: number };
  /** The number of turns that were interrupted and resumed. */
  readonly resumed: number;
}

interface Sent {
  readonly id: string;
  readonly isNow: boolean;
}

const conversations = [
  { agent: 'worker', instanceKey: 'one' },
  { agent: 'worker', instanceKey: 'two' },
  { agent: 'shared', instanceKey: 'three' },
  { agent: 'shared', instanceKey: 'four' },
];
const LONGEST_MS = 120_000;

export async function steerTurns(cluster: Cluster, options: SteerOptions): Promise<SteerReport> {
  const { random } = options;
  const kills = { agents: 0, nodes: 0 };
  const sent = new Map(conversations.map((at) => [at.instanceKey, [] as Sent[]]));
  const problems: string[] = [];
  const over = new AbortController();
  const working = conversations.map((at, index) => work(at, index));
  const killing = [kill(options.agentKills, killAgent), kill(options.nodeKills, killNode)];
  await Promise.all(conversations.map((at, index) => steer(at, index)));
  await Promise.all(killing);
  over.abort();
  await Promise.all(working);
  const reader = cluster.openReader();
  await untilHandled();
  const counts = { taken: 0, own: 0, resumed: 0 };
  for (const { agent: agentName, instanceKey } of conversations) {
    const instance = { agentName, instanceKey };
    const { messages } = await reader.history.read(instance);
    const all = sent.get(instanceKey) ?? [];
    const { turns } = await readHistory(reader.history, instance, { limit: 1000 });
    const took = new Set(turns.flatMap(({ events }) => events.flatMap(({ took: from }) => from?.eventId ?? [])));
    const found = [...problemsOf(messages, all), ...findUnanswered(messages, took)];
    problems.push(...found.map((problem) => `${agentName}/${instanceKey}: ${problem}`));
    counts.taken += took.size;
    counts.own += all.filter(({ id, isNow }) => isNow && !took.has(id)).length;
  }
  for (const { resumes } of await reader.traces.list({ last: 1000 })) if (resumes > 0) counts.resumed += 1;
  const inputs = [...sent.values()].reduce((sum, list) => sum + list.length, 0);
  return { inputs, ...counts, problems, kills };

  /** Keeps a turn running most of the time, and sometimes an ordinary input waiting. */
  async function work(at: (typeof conversations)[number], index: number): Promise<void> {
    for (let count = 0; !over.signal.aborted; count += 1) {
      const id = `${at.instanceKey}-work-${count}`;
      await untilAccepted(index + count, (swarm) => swarm.deliver({ ...at, id, input: `work ${id}` }));
      sent.get(at.instanceKey)?.push({ id, isNow: false });
      if (count % 3 === 0) continue;
      const end = await untilAccepted(index, (swarm) => swarm.ask({ ...at, id, input: `work ${id}` }));
      if (end.result.turnId !== `turn-${id}`) problems.push(`${id} ended as ${end.result.turnId}`);
    }
  }

  async function steer(at: (typeof conversations)[number], index: number): Promise<void> {
    const count = Math.ceil(options.inputs / conversations.length);
    for (let number = 0; number < count; number += 1) {
      await Bun.sleep(random.below(60));
      const id = `${at.instanceKey}-now-${number}`;
      const delivery = { ...at, id, now: true, input: `now ${id}` };
      await untilAccepted(index + number, (swarm) => swarm.deliver(delivery));
      sent.get(at.instanceKey)?.push({ id, isNow: true });
      if (number % 4 > 0) continue;
      // A second delivery is the same event, and gets the end of the turn that took it.
      const end = await untilAccepted(index, (swarm) => swarm.ask(delivery));
      if (end.eventId !== id || end.result.finishReason === 'error')
        problems.push(`${id} ended with ${JSON.stringify(end.result.error ?? end.eventId)}`);
    }
  }

  /** Repeats a request until a node answers it. */
  async function untilAccepted<Answer>(
    index: number,
    ask: (swarm: ReturnType<Cluster['at']>) => Promise<Answer>,
  ): Promise<Answer> {
    const deadline = performance.now() + LONGEST_MS;
    for (let attempt = 0; ; attempt += 1) {
      try {
        return await ask(cluster.at(index + attempt));
      } catch (error) {
        if (performance.now() > deadline) throw error;
        await Bun.sleep(20);
      }
    }
  }

  async function kill(wanted: number, act: () => Promise<boolean>): Promise<void> {
    for (let count = 0; count < wanted;) {
      await Bun.sleep(40 + random.below(160));
      if (await act()) count += 1;
    }
  }

  async function killAgent(): Promise<boolean> {
    const status = await cluster
      .at(random.below(10))
      .status()
      .catch(() => undefined);
    const pids = status?.instances.flatMap(({ pid, status: is }) =>
      pid !== undefined && is === 'working' ? [pid] : [],
    );
    const pid = pids?.[random.below(pids.length)];
    if (pid === undefined) return false;
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      return false;
    }
    kills.agents += 1;
    return true;
  }

  async function killNode(): Promise<boolean> {
    const node = cluster.nodes[random.below(cluster.nodes.length)];
    if (node === undefined) return false;
    await node.kill();
    kills.nodes += 1;
    await cluster.restart(node);
    return true;
  }

  async function untilHandled(): Promise<void> {
    const deadline = performance.now() + LONGEST_MS;
    for (;;) {
      const left: string[] = [];
      for (const { agent: agentName, instanceKey } of conversations) {
        const entries = await reader.inbox.pendingEntries({ agentName, instanceKey });
        left.push(...entries.map(({ event }) => event.id));
      }
      if (left.length === 0) return;
      if (performance.now() > deadline) throw new Error(`Not handled: ${left.join(', ')}`);
      await Bun.sleep(50);
    }
  }
}

/** Describes what is wrong with a conversation. */
export function problemsOf(messages: readonly Message[], sent: readonly Sent[]): readonly string[] {
  const problems: string[] = [];
  const counts = new Map<string, number>();
  for (const { id, data } of messages) if (data.role === 'user') counts.set(id, (counts.get(id) ?? 0) + 1);
  for (const { id } of sent) {
    const count = counts.get(`turn-${id}.input`) ?? 0;
    if (count !== 1) problems.push(`${id} is there ${count} times`);
  }
  if (counts.size !== sent.length) problems.push(`${counts.size} inputs are there, and ${sent.length} were sent`);
  let open = new Set<string>();
  for (const { id, data } of messages) {
    if (data.role === 'tool') for (const part of data.content) open.delete(part.toolCallId);
    else if (open.size > 0) problems.push(`${id} is between a tool call and its result`);
    if (data.role !== 'assistant' || typeof data.content === 'string') continue;
    open = new Set(data.content.flatMap((part) => (part.type === 'tool-call' ? [part.toolCallId] : [])));
  }
  return problems;
}

/** Describes inputs after which their turn has no message of the model. `took`: the events that running turns took. */
function findUnanswered(messages: readonly Message[], took: ReadonlySet<string>): readonly string[] {
  const problems: string[] = [];
  let waiting: string[] = [];
  const endTurn = () => {
    problems.push(...waiting.map((id) => `no message of the model follows ${id} in its turn`));
    waiting = [];
  };
  for (const { id, data } of messages) {
    if (data.role === 'assistant') waiting = [];
    if (data.role !== 'user') continue;
    const eventId = id.slice('turn-'.length, -'.input'.length);
    if (!took.has(eventId)) endTurn();
    waiting.push(eventId);
  }
  endTurn();
  return problems;
}
