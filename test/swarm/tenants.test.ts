// Tests the same agents with many instance keys at once: no instance gets, remembers or stores data of another.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { samples, sampleStep } from '../samples.ts';
import { errand, startTestSwarm } from './start-test-swarm.ts';
import { until } from '../until.ts';

setDefaultTimeout(60_000);

const TENANTS = samples(20, 7);
const ROUNDS = sampleStep === 1 ? 3 : 2;
const EVENTS = sampleStep === 1 ? 15 : 8;

/** No secret may be part of another secret, as `secret-1` is part of `secret-12`. */
const tenants = Array.from({ length: TENANTS }, (_, number) => ({
  key: `tenant-${number}`,
  secret: `secret-of-${String.fromCodePoint(65 + number)}`,
}));

/** Returns the text of all files below a folder. */
function textBelow(folder: string): string {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name), 'utf8')).join('\n');
}

describe(`${TENANTS} tenants of the same agents, at once`, () => {
  test('R-01 A-05 each gets its own replies and its own state, and its files contain nothing of another', async () => {
    await using running = await startTestSwarm({
      agents: ['host', { name: 'keeper', extensions: ['memory'] }],
      // There are fewer processes than instances, so that some instances get several processes one after the other.
      policy: { maxProcesses: Math.ceil(1.2 * TENANTS), requestTimeoutMs: 50_000 },
    });
    await Promise.all(
      tenants.map(async ({ key, secret }) => {
        const told: string[] = [];
        for (let round = 0; round < ROUNDS; round++) {
          told.push(`${secret} in round ${round}`);
          const answer = await running.say('host', `ask keeper ${told.at(-1)}`, { instanceKey: key });
          expect(JSON.parse(answer)).toEqual(told);
        }
      }),
    );
    expect(running.logs.map(({ event }) => event)).toContain('process.exited');
    await running.swarm.stop();
    const folders = readdirSync(join(running.workspace, 'instances'));
    expect(folders).toHaveLength(2 * TENANTS);
    for (const { key, secret } of tenants) {
      const state = readFileSync(
        join(running.workspace, 'instances', `keeper~${key}`, 'extensions', 'memory.json'),
        'utf8',
      );
      expect(state.match(/secret-of-\w+ in round \d/g)).toHaveLength(ROUNDS);
      for (const agent of ['host', 'keeper']) {
        const written = textBelow(join(running.workspace, 'instances', `${agent}~${key}`));
        expect(new Set(written.match(/secret-of-\w+/g))).toEqual(new Set([secret]));
      }
    }
  });

  test('R-02 each handles its events one after the other, in the order of acceptance', async () => {
    await using running = await startTestSwarm({ agents: ['host'] });
    const keys = ['one', 'two', 'three'];
    const numbers = Array.from({ length: EVENTS }, (_, number) => number);
    for (const number of numbers) {
      // A later event with less work must not overtake an earlier one.
      const input = errand(`errand-${number}`, [{ sleep: EVENTS - number }]);
      await Promise.all(keys.map((instanceKey) => running.swarm.deliver({ instanceKey, input, id: String(number) })));
    }
    await until(() => running.ends.length === keys.length * numbers.length, { about: 'all is done' });
    for (const key of keys) {
      const own = running.events.filter(({ at, name }) => at.instanceKey === key && name.startsWith('turn.'));
      expect(own.map(({ name, payload }) => [name, payload['turnId']])).toEqual(
        numbers.flatMap((number) => [
          ['turn.started', `turn-${number}`],
          ['turn.completed', `turn-${number}`],
        ]),
      );
    }
    // The instances alternated: none of them waited for all events of another.
    const order = running.ends.map(({ instanceKey }) => instanceKey);
    expect(order).not.toEqual(order.toSorted((one, other) => keys.indexOf(one) - keys.indexOf(other)));
  });

  test('R-02 a busy one does not delay others', async () => {
    await using running = await startTestSwarm({ agents: ['host', 'keeper'] });
    const busy = running.run('keeper', [{ hold: 'gate' }], { instanceKey: 'slow' });
    const behind = running.say('host', 'ask keeper Hello', { instanceKey: 'slow' });
    expect(await running.say('host', 'ask keeper Hello', { instanceKey: 'quick' })).toBe('keeper heard: Hello');
    expect(running.ends.map(({ instanceKey }) => instanceKey)).toEqual(['quick', 'quick']);
    running.release('gate');
    expect(await busy).toEqual([{ isAborted: false }]);
    expect(await behind).toBe('keeper heard: Hello');
  });
});
