// Relays between real local swarms with fake agents, over real TLS and a shared store in memory.
import { describe, expect, test } from 'bun:test';
import { textOf } from '@goondan/types';
import type { Swarm, SwarmNotice } from '../../control/swarm.ts';
import { systemClock } from '../../ports/clock.ts';
import { randomIds } from '../../ports/ids.ts';
import type { ClusterNode } from '../../store/cluster-store.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import type { FakeAnswer } from '../../testing/fake-agents.ts';
import { MemoryCluster } from '../../testing/memory-cluster.ts';
import { clusterSwarm } from './cluster-swarm.ts';
import { localSwarm } from './local-swarm.ts';
import { type ControlPort, openControlPort } from './open-control-port.ts';
import { nodeConnector } from './other-nodes.ts';
import { until } from '../../../../../test/until.ts';

const { cleanups, openSwarm } = closeAfterEach();

interface Node {
  readonly swarm: Swarm;
  readonly port: ControlPort;
}

function openNodes() {
  const cluster = new MemoryCluster();
  const ports = new Map<string, ControlPort>();
  const withPort = (node: ClusterNode): ClusterNode => {
    const port = ports.get(node.name);
    return port === undefined ? node : { ...node, control: port };
  };
  const open = async (node: string, answer: FakeAnswer): Promise<Node> => {
    const opened = await openSwarm(answer, { cluster: { of: cluster, node } });
    const local = localSwarm({
      swarm: opened.swarm,
      store: opened.store,
      clock: systemClock,
      ids: randomIds,
      entryAgent: () => 'a',
      graceMs: () => 1_000,
      reload: () => Promise.reject(new Error('not here')),
      describe: () => ({ swarm: 'test', workspaceId: 'test', pid: 1, startedAt: 'now', version: '0', connections: [] }),
      stopped: new Promise<void>(() => undefined),
      stop: async () => undefined,
    });
    const port = openControlPort({ node });
    cleanups.push(() => port.close());
    ports.set(node, port);
    const placement = cluster.join(node).placement;
    const swarm = clusterSwarm({
      listInstances: async () => [],
      local,
      clock: systemClock,
      ids: randomIds,
      inbox: opened.store.inbox,
      findPending: async () => {
        const instance = { agentName: at.agent, instanceKey: at.instanceKey };
        return cluster.swarm.inputOf(instance).pending.map(({ event }) => ({ instance, eventId: event.id }));
      },
      entryAgent: () => 'a',
      connect: nodeConnector(node, 'token', systemClock),
      placement: {
        ...placement,
        nodes: async () => (await placement.nodes()).map(withPort),
        ownerOf: async (at) => {
          const owner = await placement.ownerOf(at);
          return owner && withPort(owner);
        },
      },
    });
    const check = async () => ({ name: 'nodes', scope: 'operate' }) as const;
    port.serve({ swarm, local, tokens: { check } });
    return { swarm, port };
  };
  return { cluster, open };
}

/** Writes deltas, waits for `gate`, and answers. */
function speak(texts: readonly string[], answer: string, gate: Promise<unknown> = Promise.resolve()): FakeAnswer {
  return async (turn) => {
    for (const text of texts) {
      const delta = { type: 'text', text, turnId: `turn-${turn.event.id}`, stepId: 's1', stepIndex: 0 } as const;
      await turn.child.channel.send({ type: 'delta', eventId: turn.event.id, delta });
    }
    await gate;
    return answer;
  };
}

function textsOf(notices: readonly SwarmNotice[]): readonly string[] {
  return notices.flatMap((notice) =>
    notice.type === 'delta' ? [notice.delta.type === 'discard' ? '(discard)' : notice.delta.text] : [],
  );
}

const at = { agent: 'a', instanceKey: 'k' };

describe('nodes with agents', () => {
  test('S-08 a question survives the loss of the node that answers it, and sees the whole turn of the next one', async () => {
    const { cluster, open } = openNodes();
    const one = await open('one', speak(['Good ', 'evening.'], 'from one'));
    const two = await open('two', speak(['Good mor'], 'never', new Promise(() => undefined)));
    await two.swarm.deliver({ ...at, id: 'first' });
    await until(() => cluster.ownerOf({ agentName: 'a', instanceKey: 'k' }) === 'two');
    const notices: SwarmNotice[] = [];
    let accepted = 0;
    const asked = one.swarm.ask(
      { ...at, id: 'first' },
      { onNotice: (notice) => notices.push(notice), onAccepted: () => (accepted += 1) },
    );
    await until(() => accepted === 1);
    cluster.kill('two', true);
    await two.port.close();
    cluster.scan();
    expect(textOf((await asked).result.responseMessage)).toBe('from one');
    expect(textsOf(notices)).toEqual(['Good ', 'evening.']);
    expect(accepted).toBe(1);
    expect(cluster.ownerOf({ agentName: 'a', instanceKey: 'k' })).toBe('one');
  });

  test('S-08 a turn with cancelOnDisconnect is cancelled when its owner loses the node that asked', async () => {
    const { open } = openNodes();
    const one = await open('one', speak([], 'from one'));
    const two = await open('two', async ({ signal }) => {
      if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      return 'stopped';
    });
    const running: Promise<unknown>[] = [];
    for (const cancelOnDisconnect of [false, true]) {
      const id = `cancel ${cancelOnDisconnect}`;
      const key = { agent: 'a', instanceKey: id };
      await two.swarm.deliver({ ...key, id });
      const [left, accepted] = [new AbortController(), Promise.withResolvers<void>()];
      const options = { cancelOnDisconnect, left: left.signal, onAccepted: () => accepted.resolve() };
      const asked = one.swarm.ask({ ...key, id }, options).catch((error: unknown) => error);
      await accepted.promise;
      left.abort();
      await asked;
      running.push(two.swarm.ask({ ...key, id }));
    }
    const [stays, cancelled] = running;
    expect(await cancelled).toMatchObject({ eventId: 'cancel true' });
    expect(await Promise.race([stays, Promise.resolve('runs')])).toBe('runs');
    expect(await two.swarm.cancel({ agent: 'a', instanceKey: 'cancel false', eventId: 'cancel false' })).toBe(true);
    await stays;
  });

  test('S-08 the handled question of another node repeats its result', async () => {
    const { open } = openNodes();
    const one = await open('one', speak([], 'from one'));
    const two = await open('two', speak([], 'from two'));
    const first = await two.swarm.ask({ ...at, id: 'same' });
    let isDuplicate = false;
    const again = await one.swarm.ask({ ...at, id: 'same' }, { onAccepted: (each) => (isDuplicate = each.duplicate) });
    expect(textOf(again.result.responseMessage)).toBe(textOf(first.result.responseMessage));
    expect(isDuplicate).toBe(true);
  });
});
