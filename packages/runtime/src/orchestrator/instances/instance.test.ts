// Tests the status and the log of an instance, with fake agents instead of processes.
import { expect, test } from 'bun:test';
import { GoondanError, textOf } from '@goondan/types';
import { closeAfterEach } from '../../testing/close-after-each.ts';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { until } from '../../../../../test/until.ts';

const { openSwarm } = closeAfterEach();

const at = { agentName: 'a', instanceKey: 'default' };

async function openBroken() {
  const opened = await openSwarm(async () => 'hello');
  const { agents, swarm, lines } = opened;
  const line = {
    time: '2026-01-01T00:00:00.000Z',
    level: 'error',
    event: 'start.failed',
    message: 'The same.',
  } as const;
  const fail: typeof agents.onStart = (child) => {
    void child.channel.send({ type: 'log', line });
    void child.channel.send({ type: 'start.failed', error: { code: 'E_EXT_INIT', message: 'Extension/x throws.' } });
  };
  agents.onStart = fail;
  let tries = 0;
  /** Waits until one more attempt to start has ended. */
  const tried = async () => {
    tries += 1;
    await until(() => agents.started.length === tries && swarm.instances.find(at)?.status === 'does not start');
  };
  return { ...opened, fail, tried, said: () => lines.filter(({ message }) => message === line.message).length };
}

test('an instance that does not start logs the reason once, and again after a forgive', async () => {
  const { swarm, tried, said } = await openBroken();
  await swarm.accept(at, fakeEvent('one'), false);
  await tried();
  await swarm.accept(at, fakeEvent('two'), false);
  await tried();
  expect(said()).toBe(1);
  await swarm.forgive(at);
  await tried();
  expect(said()).toBe(2);
});

test('an instance does not start as soon as its callers know it, even if its process has not exited yet', async () => {
  const { swarm, tried } = await openBroken();
  const seen: unknown[] = [];
  swarm.listen({ requestsFailed: (address) => void seen.push(swarm.instances.find(address)?.status) });
  await swarm.accept(at, fakeEvent('one'), true);
  await tried();
  expect(seen).toEqual(['does not start']);
});

test('an instance that has answered meanwhile logs again why it does not start', async () => {
  const { swarm, agents, tried, said, fail, send } = await openBroken();
  await swarm.accept(at, fakeEvent('one'), false);
  await tried();
  agents.onStart = undefined;
  await send('a', 'two');
  agents.onStart = fail;
  agents.started.at(-1)?.child.exit({ code: 1 });
  await until(() => swarm.instances.find(at)?.status === 'asleep');
  await swarm.accept(at, fakeEvent('three'), false);
  await until(() => swarm.instances.find(at)?.status === 'does not start');
  expect(said()).toBe(2);
});

test('the statuses of its servers are known as long as an instance has its process', async () => {
  const opened = await openSwarm(async () => 'hello');
  const { agents, swarm, send } = opened;
  await send('a', 'one');
  const status = { ...at, extension: 'files', state: 'connected', timestamp: 'now', since: 'then' } as const;
  const child = agents.started[0]?.child;
  void child?.channel.send({ type: 'described', extensions: [], layers: [], tools: [], statuses: [status] });
  await until(() => swarm.instances.find(at)?.extensionStatuses !== undefined);
  expect(swarm.instances.find(at)?.extensionStatuses).toEqual([status]);
  child?.exit({ code: 0 });
  await until(() => swarm.instances.find(at)?.status === 'asleep');
  expect(swarm.instances.find(at)?.extensionStatuses).toBeUndefined();
});

test('an event that cannot be handed ahead ends neither the process nor the turn that runs, and is sent in its turn', async () => {
  const sent: string[] = [];
  const answer = Promise.withResolvers<string>();
  const opened = await openSwarm(() => answer.promise, {
    beforeSend(message) {
      const { type } = message as ToAgent;
      if (type === 'turn.ahead') throw new Error('no room');
      sent.push(type);
    },
  });
  const { agents, swarm, lines } = opened;
  await swarm.accept(at, fakeEvent('one'), false);
  await until(() => swarm.instances.find(at)?.running !== undefined);
  await swarm.accept(at, fakeEvent('two'), false);
  expect(swarm.instances.find(at)?.state.ahead).toBeDefined();
  answer.resolve('hello');
  await until(() => swarm.instances.find(at)?.status === 'idle');
  expect(sent).toEqual(['start', 'turn', 'turn']);
  expect(agents.started).toHaveLength(1);
  expect(lines.filter(({ level }) => level === 'error' || level === 'warn')).toEqual([]);
});

test.each([
  ['once: the turn is tried again', 1, undefined],
  ['each time: the event becomes a dead letter', Number.POSITIVE_INFINITY, 'E_DEAD_LETTER'],
])('a process that sends a frame nobody can read %s', async (_, times, code) => {
  let turns = 0;
  const opened = await openSwarm(async ({ child, deadLetter }) => {
    if (deadLetter) throw new GoondanError('E_DEAD_LETTER', 'set aside');
    turns += 1;
    if (turns > times) return 'hello';
    child.channel['wire'].write(Buffer.from('nonsense\n'));
    return undefined;
  });
  const { result } = await opened.send('a', 'one');
  const { supervision } = opened.currentPlan.value.settings;
  expect(turns).toBe(code === undefined ? 2 : supervision.crashesBeforeDeadLetter);
  expect(result.error?.message).toBe(code === undefined ? undefined : 'set aside');
  const [first] = opened.lines;
  expect(first).toMatchObject({
    level: 'error',
    event: 'frame.refused',
    message: expect.stringContaining('E_IPC_FRAME'),
  });
  // It is killed at once.
  expect(opened.lines.filter(({ event }) => event === 'process.cut_off')).toEqual([]);
});

test('a turn that has crashed is tried again without the event that was handed ahead, which may be the cause', async () => {
  const sent: string[] = [];
  const beforeSend = (message: unknown) => void sent.push((message as ToAgent).type);
  let turns = 0;
  const opened = await openSwarm(async () => ((turns += 1) === 1 ? undefined : 'hello'), { beforeSend });
  const { agents, swarm } = opened;
  await swarm.accept(at, fakeEvent('one'), false);
  await until(() => turns === 1);
  await swarm.accept(at, fakeEvent('two'), false);
  await until(() => sent.includes('turn.ahead'));
  agents.started[0]?.child.exit({ code: 1 });
  await until(() => swarm.instances.find(at)?.status === 'idle');
  expect(sent).toEqual(['start', 'turn', 'turn.ahead', 'start', 'turn', 'turn']);
});

test('events that wait are handed ahead one at a time, and each is sent once', async () => {
  const sent: string[] = [];
  const opened = await openSwarm(
    async ({ event: { input } }) => {
      // The turn ends when its process has the next event.
      for (let tick = 0; tick < 10; tick++) await new Promise((resolve) => setImmediate(resolve));
      return input;
    },
    { beforeSend: (message) => void sent.push((message as ToAgent).type) },
  );
  const { agents, swarm, send } = opened;
  agents.beginsAhead = true;
  await send('a', 'one');
  sent.splice(0);
  const inputs = ['two', 'three', 'four', 'five'];
  const events = inputs.map((input) => fakeEvent(input));
  const ends = events.map(({ id }) => swarm.waiters.wait(at, id).end);
  for (const [index, event] of events.entries()) swarm.instances.post(at, { type: 'work', seq: index + 2, event });
  expect((await Promise.all(ends)).map(({ result }) => textOf(result.responseMessage))).toEqual(inputs);
  expect(sent).toEqual(['turn', 'turn.ahead', 'turn.ahead', 'turn.ahead']);
});
