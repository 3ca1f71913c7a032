// Tests a swarm and its agents, all in this process, on a disk that fails for a while.
import { afterEach, expect, setDefaultTimeout, test } from 'bun:test';
import { type FrameFiles, frameFolder } from '../../packages/runtime/src/ipc/channel/frame-files.ts';
import { memoryFrameFiles } from '../../packages/runtime/src/testing/memory-frame-files.ts';
import type { ProcessHost } from '../../packages/runtime/src/agent/process/process-host.ts';
import { runAgentProcess } from '../../packages/runtime/src/agent/process/run-agent-process.ts';
import type { FromAgent } from '../../packages/runtime/src/ipc/from-agent.ts';
import type { ToAgent } from '../../packages/runtime/src/ipc/to-agent.ts';
import { systemClock } from '../../packages/runtime/src/ports/clock.ts';
import { systemFs } from '../../packages/runtime/src/ports/fs.ts';
import type { Processes } from '../../packages/runtime/src/ports/processes.ts';
import type { Spawn } from '../../packages/runtime/src/ipc/spawn.ts';
import { fakeSpawn } from '../../packages/runtime/src/testing/fake-spawn.ts';
import { type FakeSwarm, openFakeSwarm, removeFakeSwarm } from '../../packages/runtime/src/testing/fake-swarm.ts';
import { agentStoreOf } from '../../packages/runtime/src/store/files/open-agent-store.ts';
import { memoryBlobs } from '../../packages/runtime/src/store/memory-blobs.ts';
import { openJournal } from '../../packages/runtime/src/workspace/journal/journal.ts';
import { codedFs } from '../../packages/runtime/src/ports/coded-fs.ts';
import { failingFs, systemError, type Trouble } from '../../packages/runtime/src/workspace/simulation/failing-fs.ts';
import { until } from '../until.ts';

setDefaultTimeout(20_000);

const opened: FakeSwarm[] = [];
afterEach(async () => {
  for (const swarm of opened.splice(0)) {
    await swarm.close();
    removeFakeSwarm(swarm);
  }
});

const writes = ['append', 'createNew', 'makeFolder', 'rename'];

test.each([
  ['a disk that is full', 'ENOSPC', writes, 'E_DISK_FULL'],
  ['a quota that is used up', 'EDQUOT', writes, 'E_DISK_FULL'],
  ['a disk that is read-only', 'EROFS', writes, 'E_STORE_WRITE'],
  ['a disk that fails at the commit, after everything before it was written', 'EIO', ['commit'], 'E_STORE_WRITE'],
])(
  '%s makes no dead letter: the process gives the reason, and later everything is answered',
  async (_, code, failing, told) => {
    let isFailing = false;
    const agents = realAgents((operation) => {
      if (isFailing && failing.includes(operation)) throw systemError(code);
    });
    const { swarm, journal, lines, send } = await open(agents.spawn);
    for (const agent of ['a', 'b']) expect(textOf(await send(agent, 'before'))).toBe('You said: before');
    isFailing = true;
    const asked = ['a', 'b'].flatMap((agent) => [send(agent, 'one'), send(agent, 'two')]);
    // So many failed starts prove that they do not count as crashes: with this policy, a single crash would make each
    // event a dead letter.
    const enough = agents.started() + 16;
    await until(() => agents.started() >= enough);
    isFailing = false;
    expect((await Promise.all(asked)).map(textOf)).toEqual(
      ['one', 'two', 'one', 'two'].map((said) => `You said: ${said}`),
    );
    for (const agentName of ['a', 'b']) {
      const at = { agentName, instanceKey: 'default' };
      expect(await journal.deadLetters.list(at)).toEqual([]);
      expect(swarm.instances.find(at)?.state.queue).toEqual([]);
    }
    const why = lines.filter(({ event }) => event === 'turn.lost' || event === 'start.failed');
    expect(why.map(({ data }) => (data as { code: string }).code)).toContain(told);
    // The problem is reported, but not once for every attempt.
    expect(why.length).toBeLessThan(10);
  },
);

test('a message too long for a frame does not become a dead letter while the disk is full', async () => {
  let isFailing = false;
  const [good, bad] = [memoryFrameFiles(), frameFolder('/dev/null/frames')];
  const files: FrameFiles = { ...good, store: (message) => (isFailing ? bad : good).store(message) };
  const agents = realAgents(() => undefined, files);
  const { swarm, journal, lines, send } = await open(agents.spawn, '{{input}} You said: twice {{input}}');
  // The first time, the input itself is too long for a frame. The second time, only the answer is.
  for (const length of [1_100_000, 600_000]) {
    isFailing = true;
    const enough = agents.started() + 4;
    const asked = send('a', 'x'.repeat(length));
    await until(() => agents.started() >= enough);
    isFailing = false;
    expect(textOf(await asked)).toBe('You said: twice');
  }
  const at = { agentName: 'a', instanceKey: 'default' };
  expect(await journal.deadLetters.list(at)).toEqual([]);
  expect(swarm.instances.find(at)?.state.queue).toEqual([]);
  expect(lines.filter(({ event }) => event === 'event.dead_lettered')).toEqual([]);
});

async function open(spawn: Spawn, say = 'You said: {{input}}'): Promise<FakeSwarm> {
  const script = [{ say }];
  const models = { 'Model/m': { provider: 'scripted', model: 'm', options: { script } } };
  const swarm = await openFakeSwarm(async () => undefined, { spawn, models, policy: { crashesBeforeDeadLetter: 1 } });
  opened.push(swarm);
  return swarm;
}

/** Runs the program of an agent process inside this process. */
function realAgents(
  trouble: Trouble,
  files: FrameFiles = memoryFrameFiles(),
): { readonly spawn: Spawn; readonly started: () => number } {
  const living = new Set<number>();
  const fake = fakeSpawn<ToAgent, FromAgent>({
    files,
    onKill: (child) => {
      living.delete(child.pid);
      child.exit({ signal: 'SIGKILL' });
    },
  });
  const spawn: Spawn = (language, request) => {
    const process = fake.spawn(language, request);
    const child = fake.children.at(-1);
    if (child === undefined) return process;
    const { pid } = child;
    living.add(pid);
    const processes: Processes = { self: () => ({ pid, startedAt: 'now' }), isAlive: (each) => living.has(each.pid) };
    const exit = (code: number) => {
      if (living.delete(pid)) child.exit({ code });
    };
    runAgentProcess(child.channel, hostOf(trouble, processes, exit));
    return process;
  };
  return { spawn, started: () => fake.children.length };
}

function hostOf(trouble: Trouble, processes: Processes, exit: (code: number) => void): ProcessHost {
  return {
    clock: systemClock,
    moveTo: () => undefined,
    warmUp: async () => undefined,
    async openStore(location, warn) {
      const fs = failingFs(systemFs, trouble);
      const journal = await openJournal({ fs, clock: systemClock, processes, warn }, location);
      // Fails at the commit, after the log of the turn was written. The log grows with each attempt.
      const commit: typeof journal.commit = async (...turn) => {
        await codedFs({ ...systemFs, remove: async () => trouble('commit') }).remove('the disk');
        return journal.commit(...turn);
      };
      return agentStoreOf({ ...journal, commit }, memoryBlobs());
    },
    answerOwnPackages: () => undefined,
    watchDraws: () => undefined,
    onTerminate: () => undefined,
    onUncaught: () => undefined,
    exit,
  };
}

function textOf({ result }: Awaited<ReturnType<FakeSwarm['send']>>): string {
  return (
    JSON.stringify(result.responseMessage?.data.content ?? result.error).match(/You said: \w+/)?.[0] ??
    JSON.stringify(result)
  );
}
