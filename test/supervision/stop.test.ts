// Tests what happens to running turns, queued events and extensions when a swarm is stopped.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  ask,
  codeOf,
  extensionOf,
  inputsOf,
  notesIn,
  openSwarm,
  outcomeOf,
  readStore,
  scriptedAgent,
  temporaryFolder,
  TEST_MS,
  type TestSwarm,
} from './kit.ts';
import { until } from '../until.ts';

setDefaultTimeout(TEST_MS);

/** This time is longer than any test may take, so a test that waits for it has failed. */
const FOREVER_MS = 600_000;
const clerk = { agentName: 'clerk', instanceKey: 'default' };
const agentsIn = (workdir: string) => [
  scriptedAgent('clerk', { workdir, extensions: [extensionOf('tidy', { folder: workdir })] }),
];

async function askAndBegin(swarm: TestSwarm, folder: string) {
  const begun = notesIn(folder).length;
  const end = swarm.control.ask({ id: 'long', input: 'again wait-for:permission' });
  // A rejection is handled here, because it may come before anything awaits this promise.
  end.catch(() => undefined);
  await until(() => notesIn(folder).slice(begun).includes('begin turn-long'), { about: 'the tool runs' });
  return { end };
}

describe('a stopped swarm', () => {
  test('R-07 X-17 lets the running turn finish, then its extensions clean up, and leaves waiting events for the next start', async () => {
    await using folder = await temporaryFolder();
    {
      await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
      const { end } = await askAndBegin(swarm, folder.path);
      await swarm.control.deliver({ id: 'next', input: 'hello' });
      const stopped = swarm.control.stop({ graceMs: FOREVER_MS });
      expect(await codeOf(swarm.control.deliver({ input: 'too late' }))).toBe('E_SWARM_STOPPED');
      writeFileSync(join(folder.path, 'permission'), '');
      expect(outcomeOf(await end)).toBe('You said: again wait-for:permission');
      await stopped;
      expect(notesIn(folder.path)).toEqual(['registered', 'begin turn-long', 'end turn-long', 'cleaned up']);
    }
    await readStore(folder.path, async (journal) => {
      expect(inputsOf((await journal.read(clerk)).messages)).toEqual(['again wait-for:permission']);
      expect((await journal.pending(clerk)).map(({ id }) => id)).toEqual(['next']);
    });
    await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
    expect(outcomeOf(await swarm.control.ask({ id: 'next', input: 'hello' }))).toBe('You said: hello');
  });

  test('R-07 rejects input when the process knows of the stop, and then no waiting event begins', async () => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, {
      agents: agentsIn(folder.path),
      policy: { heartbeat: { missedPings: 1_000 } },
    });
    const { end } = await askAndBegin(swarm, folder.path);
    await swarm.control.deliver({ id: 'next', input: 'hello' });
    const { pid = 0 } = (await swarm.control.status()).instances[0] ?? {};
    // The process is ready to end its turn and to begin the next one, but hears nothing.
    process.kill(pid, 'SIGSTOP');
    const stopped = swarm.control.stop({ graceMs: FOREVER_MS });
    const refused = codeOf(swarm.control.deliver({ input: 'too late' }));
    expect(await Promise.race([refused, Bun.sleep(300).then(() => 'not yet')])).toBe('not yet');
    process.kill(pid, 'SIGCONT');
    expect(await refused).toBe('E_SWARM_STOPPED');
    writeFileSync(join(folder.path, 'permission'), '');
    await end;
    await stopped;
    await readStore(folder.path, async (journal) =>
      expect((await journal.pending(clerk)).map(({ id }) => id)).toEqual(['next']),
    );
  });

  test('R-07 stopped again and again during a turn: a stop is not a crash, and the turn does not become a dead letter', async () => {
    await using folder = await temporaryFolder();
    for (let stops = 0; stops < 4; stops++) {
      await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
      await askAndBegin(swarm, folder.path);
      await swarm.control.stop({ graceMs: 0 });
    }
    writeFileSync(join(folder.path, 'permission'), '');
    await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
    const end = await swarm.control.ask({ id: 'long', input: 'again wait-for:permission' });
    expect(outcomeOf(end)).toBe('You said: again wait-for:permission');
  });

  test('R-07 kills a turn that exceeds the grace period; it continues at the next start', async () => {
    await using folder = await temporaryFolder();
    {
      await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
      const { end } = await askAndBegin(swarm, folder.path);
      await swarm.control.stop({ graceMs: 300 });
      expect(await codeOf(end)).toBe('E_SWARM_STOPPED');
    }
    writeFileSync(join(folder.path, 'permission'), '');
    {
      await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
      // Nothing waits for the event any more, but it is still handled, because it was accepted.
      await until(() => notesIn(folder.path).includes('end turn-long'), { about: 'the turn has gone on' });
      expect(await ask(swarm, 'clerk', 'default', 'hello')).toBe('You said: hello');
    }
    await readStore(folder.path, async (journal) => {
      expect(inputsOf((await journal.read(clerk)).messages)).toEqual(['again wait-for:permission', 'hello']);
      expect(await journal.deadLetters.list(clerk)).toEqual([]);
    });
  });

  test('R-07 does not wait when it is stopped again', async () => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, { agents: agentsIn(folder.path) });
    const { end } = await askAndBegin(swarm, folder.path);
    const first = swarm.control.stop({ graceMs: FOREVER_MS });
    // A stopping swarm rejects input, so the first stop has begun.
    expect(await codeOf(swarm.control.deliver({ input: 'too late' }))).toBe('E_SWARM_STOPPED');
    await swarm.control.stop();
    await Promise.all([first, swarm.control.stopped]);
    expect(await codeOf(end)).toBe('E_SWARM_STOPPED');
  });

  test('R-07 does not wait for an instance without a process, neither after a crash nor in backoff', async () => {
    await using folder = await temporaryFolder();
    await using swarm = await openSwarm(folder.path, {
      agents: agentsIn(folder.path),
      policy: { restart: { quickCrashes: 1, baseMs: FOREVER_MS, maxMs: FOREVER_MS } },
    });
    await swarm.control.deliver({ input: 'once exit-1' });
    await until(() => swarm.told('process.exited').length === 1, { about: 'the process is gone' });
    expect((await swarm.control.status()).instances).toMatchObject([{ status: 'waiting', queued: 1, crashes: 1 }]);
    await swarm.control.stop({ graceMs: FOREVER_MS });
  });
});
