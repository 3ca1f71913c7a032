/**
 * Ten things that people do with a swarm, each with fixed ids, so that two runs differ only in times and made ids. The
 * nodes of a cluster take turns: the second input of a scenario goes to the second node.
 */
import type { Delivery, Swarm, SwarmNotice, TurnEnd } from '@goondan/runtime';
import { textOf } from '@goondan/types';
import type { Cluster } from './start-cluster.ts';
import { until } from '../until.ts';

export interface Scenario {
  readonly name: string;
  /** Returns the answers and whatever else the people have seen. */
  run(cluster: Cluster): Promise<readonly unknown[]>;
}

export const scenarios: readonly Scenario[] = [
  {
    name: 'one-step',
    run: async (cluster) => [
      await say(cluster.at(0), 'one-1', { agent: 'echo', instanceKey: 'one', input: 'Hello' }),
      await say(cluster.at(1), 'one-2', { agent: 'echo', instanceKey: 'one', input: 'Hello again' }),
      // The same event a second time: it is not handled again, and its answer is repeated.
      await say(cluster.at(2), 'one-2', { agent: 'echo', instanceKey: 'one', input: 'Hello again' }),
    ],
  },
  {
    name: 'effects',
    run: async (cluster) => [
      await say(cluster.at(0), 'effects-1', { agent: 'worker', instanceKey: 'effects', input: 'steps effects-1' }),
      await say(cluster.at(1), 'effects-2', { agent: 'worker', instanceKey: 'effects', input: 'once effects-2' }),
      await say(cluster.at(2), 'effects-3', { agent: 'worker', instanceKey: 'effects', input: 'again effects-3' }),
    ],
  },
  {
    name: 'request',
    run: async (cluster) => [
      await say(cluster.at(0), 'request-1', { agent: 'boss', instanceKey: 'request', input: 'ask request-1' }),
      await say(cluster.at(1), 'request-2', { agent: 'boss', instanceKey: 'request', input: 'ask request-2' }),
    ],
  },
  {
    name: 'fan-out',
    run: async (cluster) => [
      await say(cluster.at(1), 'fan-1', { agent: 'boss', instanceKey: 'fan', input: 'everybody fan-1' }),
      await say(cluster.at(2), 'fan-2', { agent: 'boss', instanceKey: 'fan', input: 'everybody fan-2' }),
    ],
  },
  { name: 'approval', run: approval },
  { name: 'cancel', run: cancel },
  { name: 'dead-letter', run: deadLetter },
  {
    name: 'state',
    run: async (cluster) => [
      await say(cluster.at(0), 'state-1', { agent: 'counter', instanceKey: 'state', input: 'again state-1' }),
      await say(cluster.at(1), 'state-2', { agent: 'counter', instanceKey: 'state', input: 'Hello' }),
    ],
  },
  { name: 'deltas', run: deltas },
  { name: 'forks', run: forks },
];

/** Sends an input and returns how its turn ended, without times and made ids. */
export async function say(swarm: Swarm, id: string, delivery: Delivery): Promise<string> {
  return describeEnd(await swarm.ask({ ...delivery, id }));
}

export function describeEnd({ result }: TurnEnd): string {
  if (result.finishReason === 'error') return result.error?.code ?? 'error';
  return `${result.finishReason}: ${textOf(result.responseMessage)}`;
}

/** A call waits for a person, who answers at another node. One call is approved, one denied. */
async function approval(cluster: Cluster): Promise<readonly unknown[]> {
  const seen: unknown[] = [];
  for (const [index, answer] of (['approved', 'denied'] as const).entries()) {
    const id = `approval-${index + 1}`;
    const asked = say(cluster.at(index), id, { agent: 'keeper', instanceKey: 'approval', input: `once ${id}` });
    const other = cluster.at(index + 1);
    const waiting = await until(
      async () => {
        const calls = await other.questions();
        return calls.find(({ eventId }) => eventId === id);
      },
      { about: 'a call waits for approval' },
    );
    await other.answer({ id: waiting.id, decision: answer, by: 'Ada', note: 'I looked.' });
    seen.push(waiting.toolName, await asked);
  }
  return seen;
}

/** A turn that waits for ever is cancelled at another node, while it runs. */
async function cancel(cluster: Cluster): Promise<readonly unknown[]> {
  const at = { agent: 'worker', instanceKey: 'cancel' };
  const called = Promise.withResolvers<void>();
  const onNotice = (notice: SwarmNotice) => {
    if (notice.type === 'runtime.event' && notice.name === 'tool.called') called.resolve();
  };
  const asked = cluster.at(0).ask({ ...at, id: 'cancel-1', input: 'wait' }, { onNotice });
  await called.promise;
  const isCancelled = await cluster.at(1).cancel({ ...at, eventId: 'cancel-1' });
  return [
    isCancelled,
    describeEnd(await asked),
    await say(cluster.at(2), 'cancel-2', { ...at, input: 'Hello' }),
    await cluster.at(1).cancel({ ...at, eventId: 'cancel-2' }),
  ];
}

/** An event that ends every process becomes a dead letter, and the next event is handled. */
async function deadLetter(cluster: Cluster): Promise<readonly unknown[]> {
  const at = { agent: 'crasher', instanceKey: 'dead' };
  const first = await say(cluster.at(0), 'dead-1', { ...at, input: 'crash' });
  const letters = await cluster.at(1).deadLetters(at);
  const second = await say(cluster.at(1), 'dead-2', { ...at, input: 'Hello' });
  return [
    first,
    letters.map(({ eventId, crashes, input }) => ({ eventId, crashes, input })),
    second,
    await cluster.at(2).dropDeadLetter({ ...at, eventId: 'dead-1' }),
    await cluster.at(0).deadLetters(at),
  ];
}

/** A reply in many pieces. The pieces that the asker gets are the reply. */
async function deltas(cluster: Cluster): Promise<readonly unknown[]> {
  let heard = '';
  const onNotice = (notice: SwarmNotice) => {
    if (notice.type === 'delta' && notice.delta.type === 'text') heard += notice.delta.text;
  };
  const delivery = { agent: 'talker', instanceKey: 'deltas', id: 'deltas-1', input: 'Well.' };
  const end = await cluster.at(0).ask(delivery, { onNotice });
  return [describeEnd(end), heard === textOf(end.result.responseMessage)];
}

/** A conversation that is forked, and then started over. */
async function forks(cluster: Cluster): Promise<readonly unknown[]> {
  const at = { agent: 'counter', instanceKey: 'trunk' };
  const seen: unknown[] = [];
  for (const [index, input] of ['first', 'second', 'third'].entries())
    seen.push(await say(cluster.at(index), `forks-${index}`, { ...at, input }));
  seen.push(await cluster.at(1).forkInstance({ ...at, as: 'branch' }));
  seen.push(await say(cluster.at(0), 'forks-4', { ...at, instanceKey: 'branch', input: 'at the branch' }));
  await cluster.at(2).restart({ ...at, fresh: true });
  seen.push(await say(cluster.at(1), 'forks-5', { ...at, input: 'after the reset' }));
  seen.push(await say(cluster.at(0), 'forks-6', { ...at, instanceKey: 'gone', input: 'soon deleted' }));
  seen.push(
    await cluster
      .at(2)
      .deleteInstance({ ...at, instanceKey: 'gone' })
      .then(() => 'deleted'),
  );
  return seen;
}
