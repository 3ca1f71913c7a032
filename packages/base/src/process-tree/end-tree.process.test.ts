import { afterEach, describe, expect, test } from 'bun:test';
import { endTree } from './end-tree.ts';
import { newProcessTag, readTree, type TreeRoot } from './read-tree.ts';
import { runningCommands } from './testing/running-commands.ts';

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

async function until(isSo: () => boolean): Promise<void> {
  const deadline = Date.now() + 10_000;
  while (!isSo() && Date.now() < deadline) await Bun.sleep(10);
}

describe('the tree of a command', () => {
  test('is ended with processes that left its session and lost their parent, by the tag', async () => {
    const mark = newMark();
    const root = start(`setsid sh -c 'setsid sleep ${mark} & exit' & wait; exec sleep ${mark}`);
    await until(() => runningCommands(`sleep ${mark}`).length === 2);
    expect(await endTree(root, { graceMs: 0 })).toBe(0);
    expect(runningCommands(`sleep ${mark}`)).toEqual([]);
  });

  test('is ended with processes with an empty environment, by their parent or session', async () => {
    const mark = newMark();
    const root = start(`env -i setsid sleep ${mark} & (env -i sleep ${mark} &) ; exec sleep ${mark}`);
    await until(() => runningCommands(`sleep ${mark}`).length === 3);
    expect(await endTree(root, { graceMs: 0 })).toBe(0);
    expect(runningCommands(`sleep ${mark}`)).toEqual([]);
  });

  test('is ended with another group of its session, even without a parent and a tag', async () => {
    const mark = newMark();
    const root = start(`bash -c 'set -m; env -i sleep ${mark} & disown' ; exec sleep ${mark}`);
    await until(() => runningCommands(`sleep ${mark}`).length === 2);
    expect(await endTree(root, { graceMs: 0 })).toBe(0);
    expect(runningCommands(`sleep ${mark}`)).toEqual([]);
  });

  test('is ended even when its first process ended long ago', async () => {
    const mark = newMark();
    const root = start(`setsid sleep ${mark} & sleep ${mark} & exit`);
    await root.child.exited;
    await until(() => runningCommands(`sleep ${mark}`).length === 2);
    expect(await endTree(root, { graceMs: 0 })).toBe(0);
    expect(runningCommands(`sleep ${mark}`)).toEqual([]);
  });

  test('contains no other process, and never this one', async () => {
    const [own, stranger] = [newMark(), newMark()];
    const other = start(`exec sleep ${stranger}`);
    const root = start(`exec sleep ${own}`);
    await until(() => runningCommands(`sleep ${own}`).length === 1);
    expect(readTree(root)).toEqual([root.pid]);
    await endTree(root, { graceMs: 0 });
    expect(runningCommands(`sleep ${stranger}`)).toHaveLength(1);
    expect(readTree({ pid: other.pid, tag: newProcessTag() })).toEqual([other.pid]);
  });

  test('has time to end by itself, but no longer', async () => {
    const polite = start(`trap 'exit 5' TERM; while true; do sleep 0.02; done`);
    await Bun.sleep(100);
    expect(await endTree(polite, { graceMs: 10_000 })).toBe(0);
    expect(await polite.child.exited).toBe(5);
    const stubborn = start(`trap '' TERM; while true; do sleep 0.02; done`);
    await Bun.sleep(100);
    expect(await endTree(stubborn, { graceMs: 50 })).toBe(0);
    await stubborn.child.exited;
    expect(stubborn.child.signalCode).toBe('SIGKILL');
  });
});
