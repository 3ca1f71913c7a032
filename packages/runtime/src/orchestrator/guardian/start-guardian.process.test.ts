// Tests the guardian as a real process, next to an orchestrator that is killed.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killTagged } from './kill-tagged.ts';
import { tagEntry, newTag, type ProcessTag } from './process-tag.ts';
import { readProcesses } from './read-processes.ts';
import { startGuardian } from './start-guardian.ts';
import { sampledCases } from '../../../../../test/samples.ts';
import { until } from '../../../../../test/until.ts';

let folder: string;
const tags: ProcessTag[] = [];

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'guardian-'));
});
afterAll(async () => {
  for (const tag of tags) await killTagged(tag);
  rmSync(folder, { recursive: true });
});

function tagForTest(): ProcessTag {
  const tag = newTag('GOONDAN_RUN');
  tags.push(tag);
  return tag;
}

const tagged = async (tag: ProcessTag) => (await readProcesses(tag)).filter(({ isTagged }) => isTagged);

const untilNone = (tag: ProcessTag) =>
  until(async () => (await tagged(tag)).length === 0, { about: 'the end of every process of the run' });

const untilGone = (guardian: number) => until(() => !isAlive(guardian), { about: 'the end of the guardian' });

function isAlive(pid: number): boolean {
  try {
    return !readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') Z ');
  } catch {
    return false;
  }
}

/** Starts a process with a guardian and all kinds of children, like an orchestrator. */
async function startOrchestrator(tag: ProcessTag, ...flags: string[]) {
  const script = join(folder, `${crypto.randomUUID()}.ts`);
  writeFileSync(
    script,
    `import { startGuardian } from ${JSON.stringify(join(import.meta.dir, 'start-guardian.ts'))};
     const guardian = await startGuardian({ tag: ${JSON.stringify(tag)} });
     const env = { PATH: process.env.PATH, ...${JSON.stringify(tagEntry(tag))} };
     // Blocks the thread, as an endless loop does, but takes no processor time.
     const block = 'Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)';
     const spawn = (...command) => Bun.spawn(command, { env, stdio: ['ignore', 'ignore', 'ignore'], detached: true });
     spawn('sh', '-c', 'sleep 1000 & sleep 1000');
     spawn('sh', '-c', 'setsid sleep 1000 & sleep 1000');
     spawn('sh', '-c', 'nohup sleep 1000 >/dev/null 2>&1 & exit 0');
     spawn('sh', '-c', '(setsid sh -c "sleep 1000 & sleep 1000" &) ; exit 0');
     spawn('sh', '-c', 'trap "" TERM HUP; sleep 1000');
     spawn(process.execPath, '-e', block);
     spawn(process.execPath, '--no-orphans', '-e', \`Bun.spawn(["setsid", "sleep", "1000"], { stdio: ["ignore", "ignore", "ignore"] }); \${block}\`);
     console.log(JSON.stringify({ guardian: guardian.pid }));
     process.on('SIGUSR2', () => { throw new Error('a bug'); });
     setInterval(() => undefined, 1_000);`,
  );
  const orchestrator = Bun.spawn([process.execPath, ...flags, script], {
    // The environment of this test is not passed on, because it contains `--no-orphans`.
    env: { PATH: process.env.PATH },
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  const { value } = await orchestrator.stdout.getReader().read();
  const { guardian } = JSON.parse(new TextDecoder().decode(value)) as { guardian: number };
  // Two more shells end as soon as they have started something.
  const isSettled = async () => {
    const commands = (await tagged(tag)).map(({ command }) => command);
    const count = (name: string) => commands.filter((command) => command === name).length;
    return count('sleep') === 9 && count('sh') === 4 && commands.length === 9 + 4 + 2;
  };
  await until(isSettled, { about: 'every process of the orchestrator' });
  return { orchestrator, guardian };
}

/** Writes a program that prints these lines in place of the guardian, and returns its path. */
function impostor(...lines: readonly string[]): string {
  const path = join(folder, `${crypto.randomUUID()}.sh`);
  const says = lines.map((line) => `echo '${line}' >&3`);
  writeFileSync(path, ['#!/bin/sh', ...says, ''].join('\n'), { mode: 0o755 });
  return path;
}

describe('when the orchestrator is gone', () => {
  test('nothing of its run stays alive, not even the guardian, and no other process is affected', async () => {
    const tag = tagForTest();
    const other = tagForTest();
    const stranger = Bun.spawn(['sleep', '1000'], {
      env: { PATH: process.env.PATH, ...tagEntry(other) },
      detached: true,
    });
    const { orchestrator, guardian } = await startOrchestrator(tag);
    orchestrator.kill('SIGKILL');
    await untilNone(tag);
    await untilGone(guardian);
    expect(await tagged(tag)).toEqual([]);
    expect(isAlive(stranger.pid)).toBe(true);
  });

  const ends: [string, string[], (pid: number, guardian: number) => void][] = [
    ['its group with it', [], (pid) => process.kill(-pid, 'SIGKILL')],
    ['and it ran so that its own children go with it', ['--no-orphans'], (pid) => process.kill(pid, 'SIGKILL')],
    ['by an error of its own', [], (pid) => process.kill(pid, 'SIGUSR2')],
    ['by an error of its own, its children with it', ['--no-orphans'], (pid) => process.kill(pid, 'SIGUSR2')],
    [
      'and somebody asked the guardian to go before',
      [],
      (pid, guardian) => {
        for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.kill(guardian, signal);
        process.kill(pid, 'SIGKILL');
      },
    ],
  ];
  test.each([...sampledCases(ends, 2)])('%s', async (_, flags, end) => {
    const tag = tagForTest();
    const { orchestrator, guardian } = await startOrchestrator(tag, ...flags);
    end(orchestrator.pid, guardian);
    await untilNone(tag);
    // The test waits until the guardian has ended. Otherwise the kill of the next test could hit two guardians that
    // are only starting.
    await untilGone(guardian);
    expect(await tagged(tag)).toEqual([]);
  });
});

describe('the guardian', () => {
  test('leaves a running swarm alone', async () => {
    const tag = tagForTest();
    const guardian = await startGuardian({ tag });
    const child = Bun.spawn(['sleep', '1000'], { env: tagEntry(tag), detached: true });
    await Bun.sleep(300);
    expect(isAlive(child.pid)).toBe(true);
    await guardian.standDown();
    expect(await child.exited).not.toBe(0);
  });

  test('does not keep an idle orchestrator alive', async () => {
    const tag = tagForTest();
    const script = join(folder, 'idle.ts');
    writeFileSync(
      script,
      `import { startGuardian } from ${JSON.stringify(join(import.meta.dir, 'start-guardian.ts'))};
       console.log((await startGuardian({ tag: ${JSON.stringify(tag)} })).pid);`,
    );
    const idle = Bun.spawn([process.execPath, script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const pid = Number(await idle.stdout.text());
    expect(await idle.exited).toBe(0);
    await untilGone(pid);
  });

  test('has nothing to report when stood down after a clean shutdown', async () => {
    const guardian = await startGuardian({ tag: tagForTest() });
    guardian.watch(12_345_678);
    guardian.forget(12_345_678);
    expect(await guardian.standDown()).toEqual({ reason: 'stood-down', method: 'tag', ended: [], left: [] });
    await guardian.exited;
  });

  test('ends and reports the remaining processes when stood down too early', async () => {
    const tag = tagForTest();
    const guardian = await startGuardian({ tag });
    const child = Bun.spawn(['sleep', '1000'], { env: tagEntry(tag), detached: true });
    expect(await guardian.standDown()).toMatchObject({ ended: [{ pid: child.pid, command: 'sleep' }], left: [] });
    expect(await child.exited).not.toBe(0);
  });

  test('carries no tag and no secret', async () => {
    const tag = tagForTest();
    const guardian = await startGuardian({ tag });
    // Bun and the shell set variables of their own, but none of ours.
    const names = readFileSync(`/proc/${guardian.pid}/environ`, 'utf8').split('\0');
    expect(names.filter((entry) => !entry.startsWith('BUN_') && entry !== 'PWD=/' && entry !== '')).toEqual([]);
    await guardian.standDown();
  });

  test('reports an unexpected end when it is killed', async () => {
    const guardian = await startGuardian({ tag: tagForTest() });
    process.kill(guardian.pid, 'SIGKILL');
    await guardian.exited;
    expect(await guardian.standDown().catch((error: unknown) => error)).toMatchObject({ code: 'E_IPC_CLOSED' });
  });

  test('is an error with a code when it cannot start', async () => {
    const failure = await startGuardian({ tag: tagForTest(), bun: '/bin/true' }).catch((error: unknown) => error);
    expect(failure).toMatchObject({ code: 'E_PROCESS_START', message: expect.stringContaining('ended early') });
    const missing = await startGuardian({ tag: tagForTest(), bun: '/nowhere/bun' }).catch((error: unknown) => error);
    expect(missing).toMatchObject({ code: 'E_PROCESS_START' });
  });

  test.each([
    ['is not JSON', 'hello'],
    ['has no pid', '{"method":"tag"}'],
    ['has an unknown method', '{"pid":7,"method":"luck"}'],
  ])('is an error with a code when its greeting %s', async (_, greeting) => {
    const failure = await startGuardian({ tag: tagForTest(), bun: impostor(greeting) }).catch(
      (error: unknown) => error,
    );
    expect(failure).toMatchObject({ code: 'E_PROCESS_START' });
  });

  test('is an error with a code when its report cannot be read', async () => {
    const bun = impostor('{"pid":7,"method":"tag"}', '{"reason":"stood-down","method":"tag","ended":"none","left":[]}');
    const guardian = await startGuardian({ tag: tagForTest(), bun });
    expect(await guardian.standDown().catch((error: unknown) => error)).toMatchObject({ code: 'E_IPC_FRAME' });
  });

  test('uses little memory', async () => {
    const guardian = await startGuardian({ tag: tagForTest() });
    const memory = readFileSync(`/proc/${guardian.pid}/smaps_rollup`, 'utf8');
    const dirty = Number(/^Private_Dirty: +(\d+)/m.exec(memory)?.[1]);
    expect(dirty).toBeGreaterThan(0);
    expect(dirty).toBeLessThan(8_000);
    await guardian.standDown();
  });
});
