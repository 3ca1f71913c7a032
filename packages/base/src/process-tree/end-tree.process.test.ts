import { afterEach, describe, expect, spyOn, test } from 'bun:test';
import { endTree, killTreeNow } from './end-tree.ts';
import { newProcessTag, readTree, type TreeRoot } from './read-tree.ts';
import { countSleeping, runningCommands } from './testing/running-commands.ts';
import { until } from '../../../../test/until.ts';

const started: Bun.Subprocess[] = [];
afterEach(async () => {
  for (const child of started.splice(0)) {
    child.kill('SIGKILL');
    await child.exited;
  }
});

let marks = 0;
const newMark = () => `6${process.pid}.${++marks}`;

function start(command: string, tag = newProcessTag()): TreeRoot & { child: Bun.Subprocess } {
  const [name = '', value = ''] = tag.split('=');
  const child = Bun.spawn(['sh', '-c', command], {
    env: { PATH: process.env.PATH, [name]: value },
    detached: true,
    stdout: 'ignore',
    stderr: 'ignore',
  });
  started.push(child);
  return { pid: child.pid, tag, child };
}

describe('the tree of a command', () => {
  test('is ended with processes that left its session and lost their parent, by the tag', async () => {
    const mark = newMark();
    const root = start(`setsid sh -c 'setsid sleep ${mark} & exit' & wait; exec sleep ${mark}`);
    await until(() => countSleeping(mark) === 2);
    expect(await endTree(root, { graceMs: 0 })).toBe(0);
    expect(runningCommands(`sleep ${mark}`)).toEqual([]);
  });

  test('is killed at once with processes that left its session', async () => {
    const mark = newMark();
    const root = start(`setsid sleep ${mark} & exec sleep ${mark}`);
    await until(() => countSleeping(mark) === 2);
    killTreeNow(root);
    await until(() => countSleeping(mark) === 0);
  });

  test('is ended with processes with an empty environment, by their parent or session', async () => {
    const mark = newMark();
    const root = start(`env -i setsid sleep ${mark} & (env -i sleep ${mark} &) ; exec sleep ${mark}`);
    await until(() => countSleeping(mark) === 3);
    expect(await endTree(root, { graceMs: 0 })).toBe(0);
    expect(runningCommands(`sleep ${mark}`)).toEqual([]);
  });

  test('is ended with another group of its session, even without a parent and a tag', async () => {
    const mark = newMark();
    const root = start(`bash -c 'set -m; env -i sleep ${mark} & disown' ; exec sleep ${mark}`);
    await until(() => countSleeping(mark) === 2);
    expect(await endTree(root, { graceMs: 0 })).toBe(0);
    expect(runningCommands(`sleep ${mark}`)).toEqual([]);
  });

  test('is ended even when its first process ended long ago', async () => {
    const mark = newMark();
    const root = start(`setsid sleep ${mark} & sleep ${mark} & exit`);
    await root.child.exited;
    await until(() => countSleeping(mark) === 2);
    expect(await endTree(root, { graceMs: 0 })).toBe(0);
    expect(runningCommands(`sleep ${mark}`)).toEqual([]);
  });

  test('contains no other process, and never this one', async () => {
    const [own, stranger] = [newMark(), newMark()];
    const other = start(`exec sleep ${stranger}`);
    const root = start(`exec sleep ${own}`);
    await until(() => countSleeping(own) === 1);
    expect(readTree(root)).toEqual([root.pid]);
    await endTree(root, { graceMs: 0 });
    expect(runningCommands(`sleep ${stranger}`)).toHaveLength(1);
    expect(readTree({ pid: other.pid, tag: newProcessTag() })).toEqual([other.pid]);
  });

  test('has time to end by itself, but no longer', async () => {
    const [first, second] = [newMark(), newMark()];
    const polite = start(`trap 'exit 5' TERM; sleep ${first} & wait`);
    await until(() => countSleeping(first) === 1);
    expect(await endTree(polite, { graceMs: 20_000 })).toBe(0);
    expect(await polite.child.exited).toBe(5);
    const stubborn = start(`trap '' TERM; sleep ${second}; sleep ${second}`);
    await until(() => countSleeping(second) === 1);
    expect(await endTree(stubborn, { graceMs: 50 })).toBe(0);
    await stubborn.child.exited;
    expect(stubborn.child.signalCode).toBe('SIGKILL');
  });

  test('is ended even when a busy machine lets this process wait longer than the grace', async () => {
    const mark = newMark();
    const stubborn = start(`trap '' TERM; sleep ${mark}; sleep ${mark}`);
    await until(() => countSleeping(mark) === 1);
    const now = spyOn(performance, 'now').mockReturnValueOnce(0).mockReturnValue(60_000);
    const left = await endTree(stubborn, { graceMs: 500 }).finally(() => now.mockRestore());
    expect([left, runningCommands(`sleep ${mark}`)]).toEqual([0, []]);
  });

  test('is killed after a grace of more looks than the kills after which it is given up', async () => {
    const mark = newMark();
    const stubborn = start(`trap '' TERM; sleep ${mark}; sleep ${mark}`);
    await until(() => countSleeping(mark) === 1);
    let looks = 0;
    const { sleep } = Bun;
    const now = spyOn(performance, 'now').mockImplementation(() => (looks > 150 ? 60_000 : 0));
    const waits = spyOn(Bun, 'sleep').mockImplementation((ms) => sleep(++looks > 150 ? ms : 0));
    const left = await endTree(stubborn, { graceMs: 500 }).finally(() => [now, waits].map((spy) => spy.mockRestore()));
    expect([left, runningCommands(`sleep ${mark}`)]).toEqual([0, []]);
  });
});
