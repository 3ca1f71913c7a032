import { expect, test } from 'bun:test';
import type { SwarmPlan } from '../../config/swarm-plan.ts';
import type { FromKeeper } from '../../ipc/from-keeper.ts';
import type { ToKeeper } from '../../ipc/to-keeper.ts';
import { fakeSpawn } from '../../testing/fake-spawn.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { CurrentPlan } from '../plan/current-plan.ts';
import { Keepers } from './keepers.ts';

const resource = {
  apiVersion: 'goondan.ai/v1',
  kind: 'Extension' as const,
  metadata: { name: 'files' },
  spec: { entry: './mcp.ts', config: { transport: { type: 'stdio' }, attach: { mode: 'stateful' } } },
};
const plan: SwarmPlan = {
  name: 'test',
  agents: [
    { agentName: 'host', models: {}, extensions: [{ resource, root: '/base', keeper: { entry: './keep.ts' } }] },
  ],
  policy: { maxKept: 1 },
};

test('the folder of a keeper is in use while the keeper waits for room, runs, and until its process has exited', async () => {
  const clock = manualClock();
  const fake = fakeSpawn<ToKeeper, FromKeeper>({ clock });
  const currentPlan = new CurrentPlan(plan);
  const drained = Promise.withResolvers<void>();
  const keepers = new Keepers({
    spawn: (language, request) => {
      const child = fake.spawn(language, request);
      const channel = fake.children.at(-1)?.channel;
      channel?.onMessage(({ type }) => {
        if (type === 'start') void channel.send({ type: 'ready' });
        if (type === 'drain') drained.resolve();
      });
      return child;
    },
    clock,
    runner: 'none',
    newFrameFolder: () => '/frames',
    newSocket: () => '/run/k.sock',
    makeSharedFolder: () => '/shared',
    log: () => undefined,
    currentPlan,
  });
  const agent = currentPlan.value.agents.get('host');
  if (agent === undefined) throw new Error('no agent');
  const inUse = () => ['/a', '/b', '/c'].filter((folder) => keepers.worksIn(folder));
  const attach = (instanceKey: string) => keepers.attach({ agentName: 'host', instanceKey }, agent, `/${instanceKey}`);
  attach('a');
  expect(inUse()).toEqual(['/a']);
  expect(attach('b').extensions?.[0]?.keeper?.refused).toContain('policy.maxKept allows (1)');
  expect(inUse()).toEqual(['/a', '/b']);
  keepers.processGone({ agentName: 'host', instanceKey: 'b' });
  keepers.retain();
  expect(inUse()).toEqual(['/a']);
  const ended = keepers.endConversation({ agentName: 'host', instanceKey: 'a' });
  await drained.promise;
  expect(keepers.describe().kept ?? []).toEqual([]);
  expect(inUse()).toEqual(['/a']);
  fake.children[0]?.exit({ code: 0 });
  await ended;
  expect(inUse()).toEqual([]);
  await keepers.drain(0);
});
