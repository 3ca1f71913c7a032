// Tests processes that are replaced, and processes that hibernate and start again.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { sampleStep } from '../samples.ts';
import {
  ask,
  extensionOf,
  findTagged,
  inputsOf,
  notesIn,
  openSwarm,
  outcomeOf,
  pidOf,
  readStore,
  scriptedAgent,
  temporaryFolder,
  TEST_MS,
} from './kit.ts';
import { until } from '../until.ts';

setDefaultTimeout(TEST_MS);

const clerk = { agentName: 'clerk', instanceKey: 'default' };
const agentsIn = (workdir: string) => [
  scriptedAgent('clerk', { workdir, extensions: [extensionOf('tidy', { folder: workdir })] }),
];

describe('a restart', () => {
  test('R-07 X-17 replaces the process and keeps the conversation', async () => {
    await using folder = await temporaryFolder();
    {
      await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
      expect(await swarm.control.restart()).toBe(0);
      await ask(swarm, 'clerk', 'default', 'one');
      const before = await pidOf(swarm, 'clerk');
      expect(await swarm.control.restart({ agent: 'clerk' })).toBe(1);
      expect(findTagged(swarm.runTag)).not.toContain(before);
      expect(notesIn(folder.path)).toEqual(['registered', 'cleaned up']);
      await ask(swarm, 'clerk', 'default', 'two');
      expect(await pidOf(swarm, 'clerk')).not.toBe(before);
    }
    await readStore(folder.path, async (journal) => {
      expect(inputsOf((await journal.read(clerk)).messages)).toEqual(['one', 'two']);
    });
  });

  test('R-07 waits for the running turn; the new process handles waiting events', async () => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
    const running = swarm.control.ask({ id: 'running', input: 'once wait-for:permission' });
    await until(() => notesIn(folder.path).length === 2, { about: 'the tool runs' });
    const before = await pidOf(swarm, 'clerk');
    const waiting = swarm.control.ask({ input: 'hello' });
    const restarted = swarm.control.restart();
    writeFileSync(join(folder.path, 'permission'), '');
    expect(outcomeOf(await running)).toBe('You said: once wait-for:permission');
    expect(notesIn(folder.path).slice(0, 3)).toEqual(['registered', 'begin turn-running', 'end turn-running']);
    expect(await restarted).toBe(1);
    expect(outcomeOf(await waiting)).toBe('You said: hello');
    expect(await pidOf(swarm, 'clerk')).not.toBe(before);
    expect(swarm.told('process.exited').map(({ level }) => level)).toEqual(['info']);
  });
});

describe('a fresh restart', () => {
  test('R-07 starts a new conversation and keeps accepted events', async () => {
    await using folder = await temporaryFolder();
    {
      await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
      await swarm.control.ask({ id: 'one', input: 'one' });
      await ask(swarm, 'clerk', 'other', 'other');
      const before = await pidOf(swarm, 'clerk');
      const running = swarm.control.ask({ id: 'running', input: 'once wait-for:permission' });
      await until(() => notesIn(folder.path).some((note) => note.startsWith('begin')), { about: 'the tool runs' });
      const waiting = swarm.control.ask({ input: 'two' });
      const restarted = swarm.control.restart({ instanceKey: 'default', fresh: true });
      writeFileSync(join(folder.path, 'permission'), '');
      expect(outcomeOf(await running)).toBe('You said: once wait-for:permission');
      expect(await restarted).toBe(1);
      expect(outcomeOf(await waiting)).toBe('You said: two');
      expect(await pidOf(swarm, 'clerk')).not.toBe(before);
      // A hibernating instance is reset, too.
      await swarm.control.restart({ instanceKey: 'other' });
      expect(await swarm.control.restart({ instanceKey: 'other', fresh: true })).toBe(1);
      await ask(swarm, 'clerk', 'other', 'again');
    }
    await readStore(folder.path, async (journal) => {
      expect(inputsOf((await journal.read(clerk)).messages)).toEqual(['two']);
      expect(inputsOf((await journal.read({ ...clerk, instanceKey: 'other' })).messages)).toEqual(['again']);
      // The archive keeps the old turns.
      const archived = await Array.fromAsync(journal.archive(clerk), ({ turnId }) => turnId);
      expect(archived).toEqual(expect.arrayContaining(['turn-one', 'turn-running']));
    });
  });
});

describe('an idle process', () => {
  test('X-17 hibernates after a while; the next message finds its conversation', async () => {
    await using folder = await temporaryFolder();
    {
      await using swarm = await openSwarm(folder.path, {
        agents: agentsIn(folder.path),
        policy: { idle: { hibernateAfterSeconds: 0.3 }, spares: 0 },
      });
      await ask(swarm, 'clerk', 'default', 'one');
      await until(() => findTagged(swarm.runTag).length === 0, { about: 'the process is gone' });
      expect(notesIn(folder.path)).toEqual(['registered', 'cleaned up']);
      await until(async () => (await swarm.control.status()).instances.length === 0, {
        about: 'it is known to be gone',
      });
      expect(await swarm.control.instances()).toMatchObject([{ agent: 'clerk', status: 'asleep', queued: 0 }]);
      expect(await ask(swarm, 'clerk', 'default', 'two')).toBe('You said: two');
      expect(notesIn(folder.path)).toHaveLength(3);
    }
    await readStore(folder.path, async (journal) => {
      expect(inputsOf((await journal.read(clerk)).messages)).toEqual(['one', 'two']);
    });
  });
});

describe('more instances than processes', () => {
  test('R-01 are all answered: idle processes make room', async () => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, {
      agents: agentsIn(folder.path),
      policy: { maxProcesses: 2, idle: { hibernateAfterSeconds: null }, spares: 0 },
    });
    let most = 0;
    const look = setInterval(() => void (most = Math.max(most, findTagged(swarm.runTag).length)), 20);
    const keys = Array.from({ length: sampleStep === 1 ? 6 : 3 }, (_, index) => `key-${index}`);
    for (const input of ['one', 'two']) {
      const answers = await Promise.all(keys.map(async (key) => ask(swarm, 'clerk', key, input)));
      expect(answers).toEqual(keys.map(() => `You said: ${input}`));
    }
    clearInterval(look);
    expect(most).toBe(2);
  });

  test('A-05 a waiting agent does not keep the agent it asked from starting', async () => {
    await using folder = await temporaryFolder();
    const asks = (target: string) => [
      { when: 'please', call: { tool: 'agents__request', args: { target, input: 'please' } } },
      { afterTool: 'agents__request', say: '{{result.response}}' },
    ];
    await using swarm = await openSwarm(folder.path, {
      agents: [
        scriptedAgent('first', { agentTools: true, script: asks('second') }),
        scriptedAgent('second', { agentTools: true, script: asks('third') }),
        scriptedAgent('third'),
      ],
      policy: { maxProcesses: 2, spares: 0 },
    });
    const keys = ['a', 'b', 'c', ...(sampleStep === 1 ? ['d'] : [])];
    const answers = await Promise.all(keys.map(async (key) => ask(swarm, 'first', key, 'please')));
    expect(answers).toEqual(keys.map(() => 'You said: please'));
  });
});
