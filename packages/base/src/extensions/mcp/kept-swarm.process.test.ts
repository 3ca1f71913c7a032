// Tests kept connections in real swarms: a server that counts its calls and tells its process shows when it is another.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import { sampleStep, testInProof } from '../../../../../test/samples.ts';
import { GdnPlace } from '../../../../cli/src/testing/gdn-place.ts';
import { isAlive, toolOf } from './testing/server-place.ts';
import { until } from '../../../../../test/until.ts';

const program = join(import.meta.dir, 'testing', 'file-server.ts');
const isProof = sampleStep === 1;
/** `npm run proof` shares processes, too. */
const isolations = isProof ? (['instance', 'agent'] as const) : (['instance'] as const);
setDefaultTimeout(isProof ? 1_800_000 : 300_000);

let place: GdnPlace;
beforeEach(() => {
  place = new GdnPlace();
});
afterEach(async () => {
  await place.run('stop', '--bundle', 'bundle');
  expect(await place.remove()).toEqual([]);
});

interface Choices {
  readonly prompt?: string;
  readonly mcp?: JsonObject;
  /** The argument of the server, which is part of its transport. */
  readonly argument?: string;
  /** The items of `extensions`, of which `files` is one; the others are neighbours. */
  readonly extensions?: readonly ('files' | JsonObject)[];
  readonly tools?: readonly string[];
  readonly policy?: JsonObject;
  readonly isolation?: 'instance' | 'agent';
}

const logging = { ref: { kind: 'Extension', name: 'logging', package: '@goondan/base' } };
const stateful = { attach: { mode: 'stateful' } };

/** Writes the bundle: the agent `host` with the server, and the agent `other` without it. */
async function write({ prompt = 'Count.', mcp = stateful, policy = {}, tools = [], ...rest }: Choices): Promise<void> {
  const { argument = 'one', extensions = ['files', logging], isolation = 'instance' } = rest;
  // An argument is a path in the folder, so that the place finds the process of the server.
  const args = [join(place.folder, 'bundle', 'tools.json'), argument];
  const transport = { type: 'stdio', command: [process.execPath, program], args };
  const files = {
    ref: { kind: 'Extension', name: 'mcp', package: '@goondan/base' },
    as: 'files',
    config: { transport, ...mcp },
  };
  const modelConfig = { modelRef: 'Model/main' };
  const script = [
    { afterTool: 'files__tally', say: '{{result}}' },
    { afterTool: 'files__hold', call: { tool: 'files__tally', args: {} } },
    { afterTool: 'files__release', say: '{{result}}' },
    { when: 'hold', call: { tool: 'files__hold', args: {} } },
    { when: 'release', call: { tool: 'files__release', args: {} } },
    { when: 'count', call: { tool: 'files__tally', args: {} } },
    { say: 'nothing' },
  ];
  const resources = [
    {
      kind: 'Model',
      metadata: { name: 'main' },
      spec: { provider: 'scripted', model: 'scripted', options: { script } },
    },
    {
      kind: 'Agent',
      metadata: { name: 'host' },
      spec: {
        modelConfig,
        isolation,
        prompt: { system: prompt },
        tools: tools.map((tool) => `Tool/${tool}`),
        extensions: extensions.map((each) => (each === 'files' ? files : each)),
      },
    },
    { kind: 'Agent', metadata: { name: 'other' }, spec: { modelConfig } },
    {
      kind: 'Tool',
      metadata: { name: 'new' },
      spec: { entry: './new.ts', exports: [{ name: 'go', description: 'Goes.', parameters: { type: 'object' } }] },
    },
    {
      kind: 'Swarm',
      metadata: { name: 'default' },
      spec: { entryAgent: 'Agent/host', agents: ['Agent/host', 'Agent/other'], policy: { spares: 0, ...policy } },
    },
  ];
  const documents = resources.map((each) => JSON.stringify({ apiVersion: 'goondan.ai/v1', ...each }));
  await place.write('bundle', {
    'goondan.yaml': documents.join('\n---\n'),
    'tools.json': JSON.stringify(['tally', 'hold', 'release', 'die'].map((name) => toolOf(name))),
    'new.ts': 'export const handlers = { go: () => "gone" };',
  });
}

async function reload(choices: Choices): Promise<void> {
  await write(choices);
  const { stderr, exitCode } = await place.run('reload', '--bundle', 'bundle');
  expect({ stderr, exitCode }).toEqual({ stderr: '', exitCode: 0 });
}

async function send(agent: string, input: string, instance = 'default'): Promise<string> {
  const args = ['--bundle', 'bundle', '--agent', agent, '--instance', instance, '--input', input, '--wait', '--json'];
  const { stdout, stderr } = await place.run('send', ...args);
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { response: string }).response;
}

/** Calls the server. Returns its count, and its process. */
async function count(instance?: string): Promise<{ readonly calls: number; readonly pid: number }> {
  const [calls, pid] = (await send('host', 'count', instance)).split(' ').map(Number);
  return { calls: calls ?? 0, pid: pid ?? 0 };
}

interface Status {
  readonly agents: readonly {
    agent: string;
    instanceKey: string;
    pid: number | null;
    status: string;
    extensions?: JsonObject[];
  }[];
  readonly kept?: readonly {
    agent: string;
    extension: string;
    instanceKey?: string;
    pid: number;
    server?: { state: string; lost?: number };
  }[];
}

const status = async () => JSON.parse((await place.run('status', '--bundle', 'bundle', '--json')).stdout) as Status;
const keptPids = async () => ((await status()).kept ?? []).map(({ pid }) => pid);
const events = async (name: string) => {
  const { stdout } = await place.run('logs', '--bundle', 'bundle', '--json');
  return stdout.split('\n').filter((line) => line.includes(`"event":"${name}"`)).length;
};
const processesWith = (text: string) => place.processes().filter((line) => line.includes(text));

test('gdn validate accepts scope agent for a stateful connection only, and no bundle names a socket', async () => {
  const validate = async (mcp: JsonObject) => {
    await write({ mcp });
    const { stdout, stderr, exitCode } = await place.run('validate', 'bundle');
    return { said: stdout + stderr, isValid: exitCode === 0 };
  };
  expect(await validate({ attach: { mode: 'stateful', scope: 'agent' } })).toMatchObject({ isValid: true });
  const alone = await validate({ attach: { scope: 'agent' } });
  expect(alone).toMatchObject({
    isValid: false,
    said: expect.stringContaining("attach must have required property 'mode'"),
  });
  expect(await validate({ attach: { mode: 'stateless', scope: 'agent' } })).toMatchObject({ isValid: false });
  const forged = await validate({ ...stateful, keeper: { socket: '/tmp/mine.sock' } });
  expect(forged).toMatchObject({ isValid: false, said: expect.stringContaining('keeper') });
});

describe('a kept connection', () => {
  // One swarm for all of it, because its processes are what these tests cost.
  test.each(isolations)(
    'L-02 survives everything but a change of its own transport, attach or expose (isolation: %s)',
    async (isolation) => {
      // With one process at a time, the other agent hibernates this one.
      const policy = { maxProcesses: 1 };
      await write({ isolation, policy });
      await place.serve('bundle');
      const first = await count();
      expect(first.calls).toBe(1);
      let calls = 1;
      const goesOn = async (change: string) => {
        calls += 1;
        expect({ change, ...(await count()) }).toEqual({ change, calls, pid: first.pid });
      };

      const relaxed = { ...stateful, timeouts: { callMs: 50_000 }, trust: 'any', maxResultCharacters: 5_000 };
      const changes: Record<string, Choices> = {
        'reordering of extensions': { extensions: [logging, 'files'] },
        'a new config of a neighbour': { extensions: [{ ...logging, config: { level: 'debug' } }, 'files'] },
        'a new prompt': { prompt: 'Count again.' },
        'a new tool': { tools: ['new'] },
        'its own other settings': { mcp: relaxed },
      };
      let choices: Choices = { isolation, policy };
      for (const [change, more] of Object.entries(changes)) {
        choices = { ...choices, ...more };
        // Only `npm run proof` makes each change alone. A change that ended the server would also end it with the others.
        if (!isProof && more.mcp === undefined) continue;
        await reload(choices);
        await goesOn(change);
      }
      expect(await send('other', 'hi')).toBe('nothing');
      expect((await status()).agents.map(({ agent }) => agent)).toEqual(['other']);
      await goesOn('hibernation');
      // In `npm test`, the kill below ends the process, too.
      if (isProof) {
        expect((await place.run('restart', '--bundle', 'bundle')).exitCode).toBe(0);
        await goesOn('gdn restart');
      }
      process.kill((await status()).agents[0]?.pid ?? 0, 'SIGKILL');
      await goesOn('kill -9 of the agent');

      const { kept = [] } = await status();
      expect(kept).toMatchObject([
        {
          agent: 'host',
          extension: 'files',
          instanceKey: 'default',
          status: 'listening',
          server: { state: 'connected' },
        },
      ]);
      const shown = (await place.run('status', '--bundle', 'bundle')).stdout;
      expect(shown).toMatch(
        /^ {2}files of host \(default\), kept: listening, process \d+\n {4}files: connected since /m,
      );

      // From here on it is another server each time, and the one before has ended.
      let before = first.pid;
      const begins = async (change: string, instance?: string) => {
        const begun = await count(instance);
        expect({ change, calls: begun.calls, isOther: begun.pid !== before }).toEqual({
          change,
          calls: 1,
          isOther: true,
        });
        await until(() => !isAlive(before));
        before = begun.pid;
      };
      await reload({ isolation, policy, argument: 'two' });
      await begins('another transport');
      // In `npm test`, config/kept-extension.test.ts has the same rule.
      const expose = { tools: { deny: ['die'] } };
      if (isProof) {
        await reload({ isolation, policy, argument: 'two', mcp: { ...stateful, expose } });
        await begins('another expose');
      }
      expect((await place.run('restart', '--bundle', 'bundle', '--fresh', '--yes')).exitCode).toBe(0);
      await until(() => !isAlive(before));
      expect((await status()).kept).toBeUndefined();
      await begins('a reset of the conversation');
      await reload({ isolation, policy, argument: 'two', mcp: { attach: { mode: 'stateful', scope: 'agent' } } });
      await begins('another attach');

      // All conversations share it, and none ends it. In `npm test`, keepers.test.ts has the same rule.
      if (isProof) {
        expect(await count('a')).toEqual({ calls: 2, pid: before });
        expect(await count('b')).toEqual({ calls: 3, pid: before });
        expect((await place.run('instance', 'delete', 'host', 'a', '--bundle', 'bundle', '--yes')).exitCode).toBe(0);
        expect(await count()).toEqual({ calls: 4, pid: before });
        expect(await keptPids()).toHaveLength(1);
      }

      // A change in the middle of a turn: the next step calls the same server through the changed extension.
      const shared = { attach: { mode: 'stateful', scope: 'agent' } };
      await reload({ isolation, policy: { maxProcesses: 2 }, argument: 'two', mcp: shared });
      const turn = send('host', 'hold', 'a');
      await until(async () => (await status()).agents.some(({ status: each }) => each === 'working'));
      await reload({
        isolation,
        policy: { maxProcesses: 2 },
        argument: 'two',
        mcp: { ...shared, timeouts: { callMs: 40_000 } },
      });
      await until(async () => {
        await send('host', 'release', 'b');
        return Promise.race([turn.then(() => true), Bun.sleep(200).then(() => false)]);
      });
      expect(await turn).toBe(`${isProof ? 5 : 2} ${before}`);

      // A server that dies, and a keeper that dies, are started again. In `npm test`, keeper.process.test.ts has the
      // same rule for a server.
      if (isProof) {
        expect(await events('keeper.server_restarted')).toBe(0);
        process.kill(before, 'SIGKILL');
        await until(async () => (await events('keeper.server_restarted')) === 1);
        await begins('the death of the server');
      }
      const [keeper = 0] = await keptPids();
      process.kill(keeper, 'SIGKILL');
      await until(async () => (await keptPids()).some((pid) => pid !== undefined && pid !== keeper));
      expect(await events('keeper.exited')).toBe(1);
      await begins('the death of the keeper');

      // A removed extension ends it, also while no process of the agent runs.
      await place.run('restart', '--bundle', 'bundle');
      expect((await status()).agents.filter(({ agent }) => agent === 'host')).toEqual([]);
      await reload({ isolation, policy, extensions: [logging] });
      await until(() => !isAlive(before));
      expect((await status()).kept).toBeUndefined();
    },
  );

  // In `npm test`, orchestrator/keepers/keepers.test.ts has the same rules.
  testInProof(
    'L-02 one keeper for each conversation, at most maxKept; a deleted conversation frees its place',
    async () => {
      await write({ policy: { maxKept: 1, maxProcesses: 2 } });
      await place.serve('bundle');
      const first = await count('a');
      expect(await send('host', 'count', 'b')).toContain('E_TOOL_UNKNOWN');
      const failed = (await status()).agents.find(({ instanceKey }) => instanceKey === 'b')?.extensions?.[0];
      expect(failed).toMatchObject({ extension: 'files', state: 'failed' });
      expect(failed?.['problem']).toMatch(/policy\.maxKept allows \(1\)\. Raise it.*\(E_MCP_KEPT\)$/);
      expect(await events('keeper.refused')).toBe(1);

      expect((await place.run('instance', 'delete', 'host', 'a', '--bundle', 'bundle', '--yes')).exitCode).toBe(0);
      expect(isAlive(first.pid)).toBe(false);
      // The process that was refused the connection gets it. It may wait a moment after its failed attempt.
      await until(async () => !(await send('host', 'count', 'b')).includes('E_TOOL_UNKNOWN'));
      expect((await count('b')).calls).toBe(2);
      expect((await status()).kept).toMatchObject([{ instanceKey: 'b' }]);
      expect((await place.run('stop', '--bundle', 'bundle')).exitCode).toBe(0);
      // The swarm itself ends its keepers; the guardian finds none.
      expect(await events('run.left_over')).toBe(0);
    },
  );

  testInProof('L-02 without attach.mode there are as many servers as agent processes, and no keeper', async () => {
    const conversations = 200;
    await write({ mcp: {}, policy: { maxProcesses: 3 } });
    await place.serve('bundle');
    // Each conversation has a server of its own. Their process ids do not show it, because the system uses ids again.
    for (let each = 0; each < conversations; each += 1) {
      const { calls } = await count(`c${each}`);
      expect({ each, calls }).toEqual({ each, calls: 1 });
    }
    const { agents, kept } = await status();
    const living = agents.filter(({ pid }) => pid !== null).length;
    await until(() => processesWith(program).length === living);
    expect({ living, kept, keepers: processesWith('keeper-runner') }).toEqual({
      living: 3,
      kept: undefined,
      keepers: [],
    });
  });

  test('L-02 many reloads that each change the transport leave one keeper and one server, and kill -9 of the swarm none', async () => {
    await write({});
    expect((await place.run('run', 'bundle', '--trust', '--detach')).exitCode).toBe(0);
    await count();
    for (let each = 0; each < (isProof ? 100 : 0); each += 1) {
      await reload({ argument: `argument-${each}` });
      expect((await count()).calls).toBe(1);
    }
    await until(() => processesWith(program).length === 1 && processesWith('keeper-runner').length === 1);
    const { pid } = JSON.parse((await place.run('status', '--bundle', 'bundle', '--json')).stdout) as { pid: number };
    process.kill(pid, 'SIGKILL');
    await until(() => place.processes().length === 0, { within: 30_000 });
  });
});
