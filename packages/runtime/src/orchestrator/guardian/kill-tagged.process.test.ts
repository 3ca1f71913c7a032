// Tests with real processes: a shell starts every kind of process that a run can leave behind.
import { afterEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { type Clock, systemClock } from '../../ports/clock.ts';
import { killGroups } from './kill-groups.ts';
import { endLeftovers, killTagged } from './kill-tagged.ts';
import { tagEntry, newTag, type ProcessTag } from './process-tag.ts';
import { readProcesses } from './read-processes.ts';
import { until } from '../../../../../test/until.ts';

// This timeout is long, because the machine may be busy.
setDefaultTimeout(120_000);

const strangers: Bun.Subprocess[] = [];
afterEach(() => {
  for (const { pid } of strangers.splice(0)) {
    try {
      process.kill(-pid, 'SIGKILL');
    } catch {
      // The process and its group have already exited.
    }
  }
});

function run(tag: ProcessTag, script: string, environment: Record<string, string> = tagEntry(tag)) {
  const child = Bun.spawn(['sh', '-c', script], {
    env: { PATH: process.env.PATH, ...environment },
    stdio: ['ignore', 'ignore', 'ignore'],
    detached: true,
  });
  strangers.push(child);
  return child;
}

/** Returns the programs of the tagged processes, sorted. A process that was forked has the name of its parent at first. */
const listTagged = async (tag: ProcessTag) =>
  (await readProcesses(tag))
    .filter(({ isTagged }) => isTagged)
    .map(({ command }) => command)
    .toSorted();

const countTagged = async (tag: ProcessTag) => (await listTagged(tag)).length;

/** Waits until exactly these programs have the tag: all were started, and the shells that exit are gone. */
const untilTagged = (tag: ProcessTag, programs: readonly string[]) =>
  until(async () => (await listTagged(tag)).join() === programs.join());

/** A clock on which only waiting takes time. A machine that is busy with other processes does not make it go on. */
function clockOfWaits(): Clock {
  let elapsed = 0;
  return {
    ...systemClock,
    elapsed: () => elapsed,
    after: (ms, action) =>
      systemClock.after(ms, () => {
        elapsed += ms;
        action();
      }),
  };
}

describe('killing by tag', () => {
  test.each([
    ['a child and its children', 'sleep 1000 & sleep 1000', ['sh', 'sleep', 'sleep']],
    ['one in a session of its own', 'setsid sleep 1000 & sleep 1000', ['sh', 'sleep', 'sleep']],
    ['one that hangs on to nothing', 'nohup sleep 1000 >/dev/null 2>&1 & exit 0', ['sleep']],
    [
      'one forked twice into its own session, its parents gone',
      '(setsid sh -c "sleep 1000 & sleep 1000" &) ; exit 0',
      ['sh', 'sleep', 'sleep'],
    ],
    [
      'one that ignores every signal it can',
      'trap "" TERM HUP INT QUIT; while :; do sleep 1000; done',
      ['sh', 'sleep'],
    ],
    ['one that is stopped', 'kill -STOP $$', ['sh']],
  ])('ends %s', async (title, script, programs) => {
    const tag = newTag('GOONDAN_RUN');
    const { pid } = run(tag, script);
    await untilTagged(tag, programs);
    if (title === 'one that is stopped') await until(() => readFileSync(`/proc/${pid}/stat`, 'utf8').includes(') T '));
    const { ended, left } = await killTagged(tag, 0, clockOfWaits());
    expect(ended.map(({ command }) => command).toSorted()).toEqual(programs);
    expect(left).toEqual([]);
    expect(await countTagged(tag)).toBe(0);
  });

  test('ends processes that were started without an environment, by their parent or their group', async () => {
    const tag = newTag('GOONDAN_RUN');
    const mark = `${1_000 + Math.random()}`;
    run(tag, `env -i setsid sleep ${mark} & sleep 1000`);
    run(tag, `(env -i sleep ${mark} &) ; sleep 1000`);
    const named = async () =>
      Bun.spawnSync(['pgrep', '-fx', `sleep ${mark}`])
        .stdout.toString()
        .trim()
        .split('\n')
        .filter((line) => line !== '').length;
    await until(async () => (await named()) === 2);
    await killTagged(tag);
    // They got their signal. On a busy machine they are still there for a moment.
    await until(async () => (await named()) === 0);
  });

  test('ends processes that fork faster than one look', async () => {
    const tag = newTag('GOONDAN_RUN');
    // Both loops end by themselves. Otherwise a test that is killed would leave processes that multiply without end.
    const leaf = 'm=0; while [ $m -lt 1000 ]; do m=$((m+1)); sleep 0.02; done';
    run(tag, `n=0; while [ $n -lt 500 ]; do n=$((n+1)); sleep 0.01; (setsid sh -c '${leaf}' &) ; done`);
    await until(async () => (await countTagged(tag)) > 10);
    const { left } = await killTagged(tag, 100, clockOfWaits());
    expect(left).toEqual([]);
    expect(await countTagged(tag)).toBe(0);
  });

  test('touches no other process', async () => {
    const tag = newTag('GOONDAN_RUN');
    const others = [
      run(tag, 'exec sleep 1000', {}),
      run(tag, 'exec sleep 1000', tagEntry(newTag('GOONDAN_RUN'))),
      run(tag, 'exec sleep 1000', { OTHER: tag }),
      run(tag, 'exec sleep 1000', {
        [`NOT_${Object.keys(tagEntry(tag)).join('')}`]: Object.values(tagEntry(tag)).join(''),
      }),
      run(tag, `: ${tag}; exec sleep 1000`, {}),
    ];
    run(tag, 'exec sleep 1000');
    await untilTagged(tag, ['sleep']);
    expect((await killTagged(tag)).ended).toHaveLength(1);
    await Bun.sleep(50);
    expect(others.map(({ exitCode, signalCode }) => exitCode ?? signalCode)).toEqual(others.map(() => null));
  });

  test('finds nothing when there is nothing, and waits for the given time', async () => {
    const startedAt = performance.now();
    expect(await killTagged(newTag('GOONDAN_RUN'), 60)).toEqual({ ended: [], left: [] });
    expect(performance.now() - startedAt).toBeGreaterThanOrEqual(60);
  });

  test('of earlier runs leaves those with a damaged tag alone, and ends the others', async () => {
    const tag = newTag('GOONDAN_RUN');
    const damaged: ProcessTag = `GOONDAN_RUN=g${crypto.randomUUID().slice(1)}`;
    run(tag, 'exec sleep 1000');
    const other = run(tag, 'exec sleep 1000', tagEntry(damaged));
    await untilTagged(tag, ['sleep']);
    const runs = [{ runTag: damaged }, { runTag: '' }, { runTag: tag }];
    expect(await endLeftovers(runs, systemClock)).toEqual({ ended: 1, unknown: 2 });
    expect([other.exitCode, other.signalCode]).toEqual([null, null]);
  });

  test('rejects a tag of another format', async () => {
    // No process has this tag, so nothing would be killed if this test failed.
    expect(await killTagged('GOONDAN_RUN=').catch((error: unknown) => error)).toBeInstanceOf(TypeError);
  });
});

describe('killing by group, without /proc', () => {
  test('ends the groups it knows', async () => {
    const tag = newTag('GOONDAN_RUN');
    const child = run(tag, 'sleep 1000 & sleep 1000');
    await untilTagged(tag, ['sh', 'sleep', 'sleep']);
    const { ended } = await killGroups([child.pid, 999_999_999], 100);
    expect(ended).toEqual([{ pid: child.pid, command: 'process group' }]);
    await until(async () => (await countTagged(tag)) === 0);
  });
});
