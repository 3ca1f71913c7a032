// Tests with real processes: the environment of a child, and its cleanup.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoondanError, type JsonObject } from '@goondan/types';
import { memoryInUse } from '../../../../../test/memory-in-use.ts';
import { until } from '../../../../../test/until.ts';
import { shareOfProcessor } from '../../../../../test/used-ms.ts';
import { agentLanguage } from '../../ipc/codec.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { ChildOutput, ChildProcess, SpawnRequest } from '../../ipc/spawn.ts';
import { type Clock, systemClock } from '../../ports/clock.ts';
import { killTagged } from '../guardian/kill-tagged.ts';
import { newTag } from '../guardian/process-tag.ts';
import { readProcesses } from '../guardian/read-processes.ts';
import { childSpawner } from './spawn-child.ts';

const runTag = newTag('GOONDAN_RUN');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'spawn-child-'));
});
afterAll(async () => {
  expect((await killTagged(runTag)).ended).toEqual([]);
  rmSync(folder, { recursive: true });
});

/** Starts a child that runs the code `body`, which can use `channel` and `tell(payload)`. */
function start(body: string, request: Partial<SpawnRequest> = {}, clock: Clock = systemClock) {
  const ipc = (file: string) => JSON.stringify(join(import.meta.dir, '..', '..', 'ipc', file));
  const runner = join(folder, `${crypto.randomUUID()}.ts`);
  writeFileSync(
    runner,
    `import { connectToParent } from ${ipc('connect-to-parent.ts')};
     import { agentLanguage } from ${ipc('codec.ts')};
     import { noteRunningCode } from ${ipc('running-code.ts')};
     const channel = connectToParent(agentLanguage, process.argv[2]);
     channel.onClose(() => process.exit(0));
     channel.onMessage(() => undefined);
     const tell = (payload) => channel.send({ type: 'runtime.event', name: 'told', payload });
     const sh = (script) => Bun.spawn(['sh', '-c', script], { stdio: ['ignore', 'inherit', 'inherit'] });
     ${body}`,
  );
  const spawn = childSpawner({ runTag, environment: { PATH: process.env.PATH, SECRET: 'x' }, clock });
  const frameFolder = join(folder, crypto.randomUUID());
  return spawn(agentLanguage, { name: 'agent a/default', runner, frameFolder, ...request });
}

function firstTold(child: ChildProcess<ToAgent, FromAgent>): Promise<JsonObject> {
  return new Promise((resolve) => {
    child.channel.onMessage((message) => {
      if (message.type === 'runtime.event') resolve(message.payload);
    });
  });
}

const tagged = async () => (await readProcesses(runTag)).filter(({ isTagged }) => isTagged);
const countTagged = async () => (await tagged()).length;

/** Waits until the programs that run beside the child are exactly these. */
async function untilRunning(...programs: readonly string[]): Promise<void> {
  const isSo = async () => {
    const commands = (await tagged()).map(({ command }) => command).filter((each) => ['sh', 'sleep'].includes(each));
    return commands.toSorted().join() === programs.join();
  };
  await until(isSo, { about: `the programs ${programs.join()}` });
}

describe('a child', () => {
  test('starts in the root folder, with nothing but what it is given', async () => {
    const child = start(
      `await tell({ cwd: process.cwd(), args: process.argv.slice(3), env: { ...process.env }, ids: (await Bun.file('/proc/self/stat').text()).split(') ')[1].split(' ').slice(2, 4).map(Number), hasSend: process.send !== undefined, flags: process.execArgv });`,
      { args: ['one', 'two'], environment: { TOKEN: 'declared' } },
    );
    const { cwd: where, args, env, flags, ids, hasSend } = await firstTold(child);
    expect({ where, args, hasSend }).toEqual({ where: '/', args: ['one', 'two'], hasSend: false });
    expect(flags).toEqual(['--config=/dev/null', '--no-env-file', '--no-install', '--no-orphans']);
    const names = Object.keys(env as JsonObject).filter((name) => !name.startsWith('BUN_'));
    expect(names.toSorted()).toEqual(['GOONDAN_CHILD', 'GOONDAN_RUN', 'PATH', 'TOKEN']);
    // The child leads its own process group and its own session.
    expect(ids).toEqual([child.pid, child.pid]);
    await child.kill(0);
  });

  test('reads no bunfig and no .env of the home folder, and installs nothing', async () => {
    const home = join(folder, 'home');
    mkdirSync(home);
    for (const name of ['bunfig.toml', '.bunfig.toml']) {
      writeFileSync(join(home, name), `preload = [${JSON.stringify(join(home, 'preload.ts'))}]\n`);
    }
    writeFileSync(join(home, 'preload.ts'), 'process.env.PRELOADED = "yes";\n');
    writeFileSync(join(home, '.env'), 'FROM_DOTENV=yes\n');
    const child = start(
      `const imported = await import('no-such-package-' + 'at-all').then(() => 'installed', (error) => error.message);
       await tell({ preloaded: process.env.PRELOADED ?? null, dotenv: process.env.FROM_DOTENV ?? null, imported });`,
      { environment: { HOME: home } },
    );
    expect(await firstTold(child)).toEqual({
      preloaded: null,
      dotenv: null,
      imported: expect.stringContaining('Cannot find'),
    });
    await child.kill(0);
  });

  test('reports how it ended', async () => {
    expect(await start(`process.exit(3);`).exited).toEqual({ code: 3, signal: null, leftBehind: 0 });
    expect(await start(`process.kill(process.pid, 'SIGSEGV'); await Bun.sleep(10_000);`).exited).toMatchObject({
      signal: 'SIGSEGV',
    });
  });

  test('counts as gone after its last message was read', async () => {
    const child = start(`
      for (let n = 0; n < 20_000; n++) await channel.send({ type: 'pong', n });
      process.exit(1);
    `);
    let heard = 0;
    child.channel.onMessage(() => (heard += 1));
    await child.exited;
    // One read cannot take this much, so reading continues long after the child has exited.
    expect(heard).toBe(20_000);
    expect(child.channel.isClosed).toBe(true);
  });

  test('reports its last lines when it crashes, and leaves no folder of frames', async () => {
    const output: ChildOutput[] = [];
    const child = start(
      `await tell({ text: 'x'.repeat(10) });
       channel.send({ type: 'call', callId: 'c', kind: 'send', to: { agentName: 'a', instanceKey: 'k' }, timeoutMs: 1,
         event: { id: 'e', type: 't', input: 'x'.repeat(2_000_000), instanceKey: 'k', source: { kind: 'cli', name: 'x' }, traceId: 't', createdAt: new Date() } });
       console.log('about to fail');
       throw new Error('the reason');`,
      { frameFolder: join(folder, 'frames-of-one'), onOutput: (each) => output.push(each) },
    );
    child.channel.onMessage(() => undefined);
    expect(await child.exited).toMatchObject({ code: 1, signal: null });
    const lines = output.flatMap((each) => (each.kind === 'line' ? [`${each.stream}: ${each.text}`] : []));
    expect(lines).toContain('stdout: about to fail');
    expect(lines).toContainEqual(expect.stringMatching(/^stderr: .*the reason/));
    expect(existsSync(join(folder, 'frames-of-one'))).toBe(false);
  });

  test('is an error with its name and a code when it cannot be started', () => {
    const spawn = childSpawner({ runTag, bun: join(folder, 'no-bun') });
    const failing = () => spawn(agentLanguage, { name: 'agent a/default', runner: '/x.ts', frameFolder: '/frames' });
    expect(failing).toThrow(GoondanError);
    expect(failing).toThrow('The process of agent a/default cannot be started: ');
    expect(failing).toThrow(expect.objectContaining({ code: 'E_PROCESS_START' }));
  });
});

describe('a child that ends takes everything it started with it', () => {
  test.each([
    ['its own children', `sh('sleep 1000 & sleep 1000')`, ['sh', 'sleep', 'sleep']],
    ['one in a session of its own', `sh('setsid sleep 1000 & exit 0')`, ['sleep']],
    ['one forked twice', `sh('(setsid sh -c "sleep 1000 & sleep 1000" &)')`, ['sh', 'sleep', 'sleep']],
  ])('%s', async (_, starting, programs) => {
    const child = start(`${starting}; await tell({});`);
    await firstTold(child);
    await untilRunning(...programs);
    process.kill(child.pid, 'SIGKILL');
    const { signal, leftBehind } = await child.exited;
    expect(signal).toBe('SIGKILL');
    // Bun ends its own children, but the processes that these children started are left.
    expect(leftBehind).toBeWithin(1, programs.length + 1);
    expect(await countTagged()).toBe(0);
  });

  test('and none of its siblings', async () => {
    const sibling = start(`sh('exec sleep 1000'); await tell({});`);
    await firstTold(sibling);
    const child = start(`sh('exec sleep 1000'); await tell({});`);
    await firstTold(child);
    await child.kill(0);
    expect(await countTagged()).toBe(2);
    await sibling.kill(0);
    expect(await countTagged()).toBe(0);
  });
});

describe('killing a child', () => {
  test('lets it end by itself within the grace', async () => {
    const output: ChildOutput[] = [];
    const child = start(
      `process.on('SIGTERM', () => { console.log('cleaning up'); process.exit(0); });
       await tell({});`,
      { onOutput: (each) => output.push(each) },
    );
    await firstTold(child);
    expect(await child.kill(10_000)).toMatchObject({ code: 0 });
    expect(output).toContainEqual({ kind: 'line', stream: 'stdout', text: 'cleaning up' });
  });

  test('signals the whole group', async () => {
    const output: ChildOutput[] = [];
    const child = start(
      `const asked = sh('trap "echo asked; exit 0" TERM; echo ready; while :; do sleep 0.01; done').exited;
       process.on('SIGTERM', () => void asked.then(() => process.exit(0)));
       await tell({});`,
      { onOutput: (each) => output.push(each) },
    );
    await firstTold(child);
    await until(() => output.length === 1, { about: 'the first line of the shell' });
    await child.kill(20_000);
    expect(output).toContainEqual({ kind: 'line', stream: 'stdout', text: 'asked' });
  });

  test('waits no longer than the grace, and reaches the whole group', async () => {
    const graceMs = 12_345;
    let endGrace = () => {};
    const after: Clock['after'] = (ms, action) => {
      if (ms !== graceMs) return systemClock.after(ms, action);
      endGrace = action;
      return () => undefined;
    };
    const body = `
      process.on('SIGTERM', () => undefined);
      sh('trap "" TERM; while :; do sleep 1000; done');
      await tell({});
    `;
    const child = start(body, {}, { ...systemClock, after });
    await firstTold(child);
    await untilRunning('sh', 'sleep');
    const exited = child.kill(graceMs);
    expect(await Promise.race([exited, Bun.sleep(200).then(() => 'waiting')])).toBe('waiting');
    endGrace();
    expect(await exited).toMatchObject({ signal: 'SIGKILL' });
    expect(await countTagged()).toBe(0);
  });

  test('that is blocked has the code in its exit, if the supervisor asks for it, and leaves no file', async () => {
    const frameFolder = join(folder, crypto.randomUUID());
    const note = `noteRunningCode(process.argv[2])().enter('in tool a'); await tell({}); while (true) {}`;
    const [asked, ended] = [start(note, { frameFolder }), start(note)];
    await Promise.all([firstTold(asked), firstTold(ended)]);
    expect(asked.hung?.()).toEqual({ words: 'blocked in tool a', conversation: 0 });
    expect(await asked.kill(0)).toMatchObject({ signal: 'SIGKILL', blocked: 'blocked in tool a' });
    expect(existsSync(frameFolder)).toBe(false);
    expect(await ended.kill(0)).not.toHaveProperty('blocked');
  });

  test('works when its loop is blocked or it is stopped, and twice does no harm', async () => {
    const blocked = start(`await tell({}); while (true) {}`);
    await firstTold(blocked);
    expect(await Promise.all([blocked.kill(10), blocked.kill(0)])).toEqual([
      expect.objectContaining({ signal: expect.stringMatching(/^SIG(?:TERM|KILL)$/) }),
      expect.objectContaining({ signal: expect.stringMatching(/^SIG(?:TERM|KILL)$/) }),
    ]);
    const stopped = start(`await tell({}); process.kill(process.pid, 'SIGSTOP');`);
    await firstTold(stopped);
    const isStopped = () => readFileSync(`/proc/${stopped.pid}/stat`, 'utf8').includes(') T ');
    await until(isStopped, { about: 'a child that stops itself' });
    expect(await stopped.kill(20)).toMatchObject({ signal: 'SIGKILL' });
    expect(await stopped.kill(0)).toMatchObject({ signal: 'SIGKILL' });
  });
});

describe('a child whose orchestrator is killed', () => {
  test('ends too, without a guardian and with its loop blocked', async () => {
    const spawning = join(folder, 'spawning.ts');
    const runner = join(folder, 'blocked.ts');
    const begun = join(folder, 'begun');
    writeFileSync(runner, `await Bun.write(${JSON.stringify(begun)}, ''); while (true) {}`);
    writeFileSync(
      spawning,
      `import { spawnChild } from ${JSON.stringify(join(import.meta.dir, 'spawn-child.ts'))};
       import { agentLanguage } from ${JSON.stringify(join(import.meta.dir, '..', '..', 'ipc', 'codec.ts'))};
       const request = { name: 'x', runner: ${JSON.stringify(runner)}, frameFolder: ${JSON.stringify(join(folder, 'frames'))} };
       spawnChild({ runTag: ${JSON.stringify(runTag)} }, agentLanguage, request);`,
    );
    const orchestrator = Bun.spawn([process.execPath, spawning], { stdio: ['ignore', 'ignore', 'inherit'] });
    await until(() => existsSync(begun), { about: 'the loop of the child' });
    expect(await countTagged()).toBe(1);
    orchestrator.kill('SIGKILL');
    await until(async () => (await countTagged()) === 0, { about: 'the end of the child' });
  });
});

describe('a child that prints without end', () => {
  test('costs the orchestrator neither memory nor time, and delays no other child', async () => {
    const heard: ChildOutput[] = [];
    const child = start(`await tell({}); for (;;) console.log('x'.repeat(100) + '\\n'.repeat(1_000));`, {
      onOutput: (output) => heard.push(output),
    });
    await firstTold(child);
    const before = memoryInUse();
    expect(await shareOfProcessor(1_500)).toBeLessThan(0.5);
    expect(memoryInUse() - before).toBeLessThan(80_000_000);
    await child.kill(0);
    expect(heard.length).toBeLessThan(20_000);
    expect(heard.some(({ kind }) => kind === 'dropped')).toBe(true);
  });
});
