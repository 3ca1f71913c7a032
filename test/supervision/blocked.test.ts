// Tests that the code which blocks its process is named: in the log, the status, the dead letter and the trace.
import { expect, setDefaultTimeout, test } from 'bun:test';
import { readTurnTrace } from '@goondan/runtime/history';
import {
  codeOf,
  extensionOf,
  openSwarm,
  outcomeOf,
  quickPolicy,
  scriptedAgent,
  temporaryFolder,
  TEST_MS,
  workspace,
} from './kit.ts';
import { until } from '../until.ts';

setDefaultTimeout(TEST_MS);

const layerOf = (kind: string) => `blocked in the ${kind} layer of extension blocking (blocking.ts)`;
// On a busy machine, the heartbeat also kills a process before it is blocked. So only two kills in the same code, one
// after the other, make a dead letter.
const policy = { ...quickPolicy, crashesBeforeDeadLetter: 100 };

const turns = [
  ['again loop-forever', 'blocked in tool acts__again (acts.ts)'],
  ['say block turn', layerOf('turn')],
  ['say block step', layerOf('step')],
  ['again block toolCall', layerOf('toolCall')],
  ['say block model', layerOf('model')],
  ['again log:1 block after turn', layerOf('turn')],
] as const;

test.each([
  ['a process of its own', {}],
  ['a shared process', { isolation: 'agent' }],
] as const)('R-03 a turn that blocks %s twice in the same code names the code', async (_, isolated) => {
  await using folder = await temporaryFolder();
  const agents = [scriptedAgent('clerk', { ...isolated, extensions: [extensionOf('blocking')] })];
  await using swarm = await openSwarm(folder.path, { agents, policy });
  const place = { stateRoot: folder.path, workspaceId: workspace };
  await Promise.all(
    turns.map(async ([input, blocked]) => {
      const instanceKey = input.replaceAll(/\W/g, '-');
      const asked = swarm.control.ask({ instanceKey, id: instanceKey, input });
      const problemNow = async () =>
        (await swarm.control.instances()).find((each) => each.instanceKey === instanceKey)?.problem;
      await until(async () => (await problemNow())?.includes(blocked), { about: `the status says ${blocked}` });
      const { error } = (await asked).result;
      expect(error?.code).toBe('E_DEAD_LETTER');
      expect(error?.message).toContain(blocked);
      const told = (event: string) => swarm.told(event).findLast(({ instance }) => instance === instanceKey)?.message;
      expect(told('process.hung')).toContain(blocked);
      expect(told('event.dead_lettered')).toContain(blocked);
      const [letter] = await swarm.control.deadLetters({ agent: 'clerk', instanceKey });
      expect(letter?.reason).toContain(blocked);
      const trace = () => readTurnTrace(place, `turn-${instanceKey}`).catch(() => undefined);
      await until(async () => JSON.stringify(await trace())?.includes(blocked), { about: `the trace says ${blocked}` });
      expect(await problemNow()).toBeUndefined();
      expect(outcomeOf(await swarm.control.ask({ instanceKey, input: 'hello' }))).toBe('You said: hello');
    }),
  );
});

test('R-03 a call that blocks its process and may not be repeated names the code, and its turn goes on', async () => {
  await using folder = await temporaryFolder();
  await using swarm = await openSwarm(folder.path, { agents: [scriptedAgent('clerk')], policy });
  const blocked = 'blocked in tool acts__once (acts.ts)';
  const { result } = await swarm.control.ask({ input: 'once loop-forever' });
  expect(result.error).toBeUndefined();
  expect(swarm.told('process.hung').at(-1)?.message).toContain(blocked);
  expect((await swarm.control.instances())[0]?.lastBlocked?.code).toBe(blocked);
  const trace = await until(
    () => readTurnTrace({ stateRoot: folder.path, workspaceId: workspace }, result.turnId).catch(() => undefined),
    { about: 'the trace' },
  );
  expect(JSON.stringify(trace)).toContain(`${blocked}, interrupted this call`);
});

test('X-03 a module that blocks its process is named, and the agent does not start', async () => {
  await using folder = await temporaryFolder();
  const agents = [scriptedAgent('clerk', { extensions: [extensionOf('endless')] })];
  await using swarm = await openSwarm(folder.path, { agents, policy });
  expect(await codeOf(swarm.control.ask({ input: 'hello' }))).toBe('E_AGENT_START');
  const [instance] = await swarm.control.instances();
  expect(instance?.status).toBe('does not start');
  expect(instance?.problem).toContain('blocked while loading endless.ts');
  expect(swarm.told('start.failed').at(-1)?.message).toContain('blocked while loading endless.ts');
});
