// Tests hostile instance keys from outside: each gets its own conversation in its own folder, or is refused with a
// code.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { rejectionOf } from '../../packages/runtime/src/workspace/simulation/rejection-of.ts';
import { sampledCases, sampleStep } from '../samples.ts';
import { startTestSwarm, type TestSwarm } from './start-test-swarm.ts';

setDefaultTimeout(120_000);

const long = 'k'.repeat(299);

const accepted: readonly string[] = [
  '../../x',
  '..',
  '.',
  '/etc/passwd',
  'a/b',
  'a.b',
  'a-b',
  'a b',
  'A-B',
  'a~b',
  'a\\b',
  'a\nb',
  `${long}1`,
  `${long}2`,
  '한글',
  '日本',
  'é',
  'e\u0301',
  '🫖',
  '__proto__',
  'con',
  ' ',
  // This key equals the folder name of the key `a/b`.
  'a-b-c14cddc033f64b9d',
];

/** Clients use every third key in `npm test`. path-segment.test.ts has the same rule for any two keys. */
const delivered = sampledCases(accepted, 3);

/** The keys that an agent uses: each would need another process. In `npm test` they are every fifth of them. */
const acceptedFromAgents = accepted.filter((_, number) => number % sampleStep === 0);

const refused: readonly (readonly [string, string])[] = [
  ['', 'is empty'],
  ['k'.repeat(1_025), 'has 1025 characters; 1024 are allowed'],
  ['half of a pair: \ud83e', 'is not valid Unicode'],
  // PostgreSQL cannot keep it, and a swarm on files can move there.
  ['a\u0000b', 'contains a NUL character'],
];

interface Folder {
  readonly name: string;
  readonly agentName: string;
  readonly instanceKey: string;
  readonly conversation: string;
}

function readFolders({ workspace }: TestSwarm): readonly Folder[] {
  return readdirSync(join(workspace, 'instances')).map((name) => {
    const folder = join(workspace, 'instances', name);
    const conversation = readFileSync(join(folder, 'messages', 'events.jsonl'), 'utf8');
    // The first frame of the log has the identity of the instance.
    const { agentName, instanceKey } = JSON.parse(conversation.split('\n', 1)[0] ?? '').head;
    return { name, agentName, instanceKey, conversation };
  });
}

/** Checks that each key has a folder which contains the texts of that key, and no others. */
function checkFolders(running: TestSwarm, agent: string, keys: readonly string[]): void {
  const folders = readFolders(running).filter(({ agentName }) => agentName === agent);
  expect(new Set(folders.map(({ instanceKey }) => instanceKey))).toEqual(new Set(keys));
  expect(folders).toHaveLength(keys.length);
  for (const { name, instanceKey, conversation } of folders) {
    expect(name).toMatch(/^[a-z]+~[a-z0-9_][a-z0-9_-]{0,63}$/);
    const said = conversation.match(/said to number \d+ only/g);
    expect(new Set(said)).toEqual(new Set([`said to number ${keys.indexOf(instanceKey)} only`]));
  }
}

/** Checks that nothing was created outside of the workspace, and that other users cannot read the files inside. */
function checkSurroundings({ folder, stateRoot, workspace }: TestSwarm): void {
  expect(readdirSync(folder).toSorted()).toEqual(['state', 'work']);
  expect(readdirSync(stateRoot).toSorted()).toEqual(['format.json', 'workspaces']);
  expect(readdirSync(join(stateRoot, 'workspaces'))).toEqual(['test']);
  for (const entry of readdirSync(workspace, { recursive: true, withFileTypes: true })) {
    if (entry.isSocket()) continue;
    const { mode } = statSync(join(entry.parentPath, entry.name));
    expect([entry.name, mode & 0o077]).toEqual([entry.name, 0]);
  }
}

describe('an instance key', () => {
  test('R-01 R-06 by delivery: two keys never share a folder, and no key leaves the workspace', async () => {
    await using running = await startTestSwarm({ agents: ['host'], policy: { maxProcesses: 8 } });
    await Promise.all(
      delivered.map(async (instanceKey, number) => {
        const words = `said to number ${number} only`;
        expect(await running.say('host', words, { instanceKey })).toBe(`host heard: ${words}`);
      }),
    );
    for (const [instanceKey, problem] of refused) {
      const error = { code: 'E_INSTANCE_KEY', message: `An instance key ${problem}.` };
      expect(await rejectionOf(running.swarm.deliver({ instanceKey, input: 'hello' }))).toMatchObject(error);
      expect(await rejectionOf(running.swarm.ask({ instanceKey, input: 'hello' }))).toMatchObject(error);
    }
    expect(new Set((await running.swarm.instances()).map(({ instanceKey }) => instanceKey))).toEqual(
      new Set(delivered),
    );
    await running.swarm.stop();
    checkFolders(running, 'host', delivered);
    checkSurroundings(running);
  });

  test('A-05 by agents__request: the same, and a refusal is an error for the caller', async () => {
    await using running = await startTestSwarm({ agents: ['host', 'guest'], policy: { maxProcesses: 8 } });
    const ends = await running.run(
      'host',
      acceptedFromAgents.map((instanceKey, number) => ({
        ask: { target: 'guest', instanceKey, input: `said to number ${number} only` },
      })),
    );
    expect(ends).toEqual(
      acceptedFromAgents.map((_, number) => ({
        target: 'guest',
        response: `guest heard: said to number ${number} only`,
      })),
    );
    for (const [instanceKey] of refused) {
      const calls = [{ ask: { target: 'guest', instanceKey } }, { tell: { target: 'guest', instanceKey } }];
      const error = { code: 'E_AGENT_REQUEST', message: expect.stringContaining('instanceKey') };
      expect(await running.run('host', calls)).toEqual([error, error]);
    }
    await running.swarm.stop();
    checkFolders(running, 'guest', acceptedFromAgents);
    checkSurroundings(running);
  });
});

describe('an invalid delivery', () => {
  test('A-06 to an undeclared agent is refused with the list of agents, and creates nothing', async () => {
    await using running = await startTestSwarm({ agents: ['host'] });
    for (const agent of ['guest', 'Host', '', '../host', '__proto__', 'host~default', 'x'.repeat(4_000)]) {
      const error = { code: 'E_AGENT_UNKNOWN', message: expect.stringContaining('Agents: host.') };
      expect(await rejectionOf(running.swarm.deliver({ agent, input: 'hello' }))).toMatchObject(error);
      expect(await rejectionOf(running.swarm.ask({ agent, input: 'hello' }))).toMatchObject(error);
      expect(await running.run('host', [{ ask: { target: agent || '?' } }])).toMatchObject([error]);
    }
    expect(readFolders(running).map(({ name }) => name)).toEqual(['host~default']);
  });
});
