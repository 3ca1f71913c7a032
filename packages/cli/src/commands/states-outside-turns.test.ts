// Tests with real agents: a state that an extension sets outside of a turn.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import { openPlace } from '../testing/open-place.ts';
import { runCaptured } from '../testing/run-captured.ts';
import { sampleBundle, withExtension } from '../testing/sample-bundle.ts';
import { until } from '../../../../test/until.ts';

const place = openPlace(afterAll);
beforeAll(() =>
  place.write('bundle', {
    'goondan.yaml': sampleBundle(withExtension('counter')),
    'counter.ts': `
export const register = (api) => {
  api.events.on('turn.completed', async () => api.state.set(((await api.state.get()) ?? 0) + 1));
};
`,
  }),
);

describe('X-12 a handler of turn.completed that counts in its state', () => {
  test('counts 3 after three `gdn run --input`, each in its own process', async () => {
    for (const input of ['one', 'two', 'three']) {
      const { exitCode, stderr } = await place.run('run', 'bundle', '--trust', '--input', input);
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    }
    expect(await count('default')).toBe(3);
  });

  test('has counted soon after the turn, and keeps the count when everything is killed', async () => {
    await place.run('run', 'bundle', '--trust', '--detach');
    await place.run('send', '--input', 'one', '--instance', 'killed', '--wait', '--bundle', 'bundle');
    await until(() => count('killed'), { about: 'the state is on disk' });
    for (const line of place.processes()) process.kill(Number(line.split(' ')[0]), 'SIGKILL');
    expect(await count('killed')).toBe(1);
  });
});

async function count(instance: string): Promise<unknown> {
  const where = ['--bundle', join(place.folder, 'bundle'), '--state-root', place.stateRoot];
  const { stdout } = await runCaptured(['instance', 'show', 'host', instance, '--json', ...where]);
  return JSON.parse(stdout).extensions.counter;
}
