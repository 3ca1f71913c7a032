// Tests the spare process, which is started in advance.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { ask, findTagged, openSwarm, pidOf, scriptedAgent, temporaryFolder, TEST_MS, type TestSwarm } from './kit.ts';
import { until } from '../until.ts';

setDefaultTimeout(TEST_MS);

const tellVariable = [{ afterTool: 'acts__once', say: 'It is {{result.value}}.' }];

async function spareOf({ runTag }: TestSwarm, not?: number): Promise<number> {
  const others = () => findTagged(runTag).filter((pid) => pid !== not);
  await until(() => others().length === 1, { about: 'one process waits' });
  return others()[0] ?? 0;
}

describe('a warm spare', () => {
  test('handles the first message, and another one replaces it', async () => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, { agents: [scriptedAgent('clerk')], policy: { spares: 1 } });
    const first = await spareOf(swarm);
    expect(await ask(swarm, 'clerk', 'default', 'hello')).toBe('You said: hello');
    expect(await pidOf(swarm, 'clerk')).toBe(first);
    const second = await spareOf(swarm, first);
    expect(await ask(swarm, 'clerk', 'other', 'hello')).toBe('You said: hello');
    expect(await pidOf(swarm, 'clerk', 'other')).toBe(second);
  });

  test('is replaced when it is killed', async () => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, { agents: [scriptedAgent('clerk')], policy: { spares: 1 } });
    const first = await spareOf(swarm);
    process.kill(first, 'SIGKILL');
    const second = await spareOf(swarm, first);
    expect(await ask(swarm, 'clerk', 'default', 'hello')).toBe('You said: hello');
    expect(await pidOf(swarm, 'clerk')).toBe(second);
  });

  test('is not used for an agent with its own environment, which only its tools see', async () => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, {
      agents: [
        scriptedAgent('special', { environment: { MOOD: 'special' }, script: tellVariable }),
        scriptedAgent('plain', { script: tellVariable }),
      ],
      policy: { spares: 1 },
    });
    const spare = await spareOf(swarm);
    expect(await ask(swarm, 'special', 'default', 'once variable:MOOD')).toBe('It is special.');
    expect(await pidOf(swarm, 'special')).not.toBe(spare);
    expect(await ask(swarm, 'plain', 'default', 'once variable:MOOD')).toBe('It is none.');
    expect(await pidOf(swarm, 'plain')).toBe(spare);
  });

  test('does not exist when none is wanted', async () => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, { agents: [scriptedAgent('clerk')], policy: { spares: 0 } });
    expect(findTagged(swarm.runTag)).toEqual([]);
    await ask(swarm, 'clerk', 'default', 'hello');
    expect(findTagged(swarm.runTag)).toEqual([(await pidOf(swarm, 'clerk')) ?? 0]);
  });
});
