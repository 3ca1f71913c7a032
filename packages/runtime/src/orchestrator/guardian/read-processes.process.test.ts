import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { tagEntry, newTag } from './process-tag.ts';
import { canReadProcesses, findTags, readProcesses } from './read-processes.ts';
import { until } from '../../../../../test/until.ts';

const tag = newTag('GOONDAN_RUN');
let folder: string;

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'read-processes-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

const stdio: ['ignore', 'ignore', 'ignore'] = ['ignore', 'ignore', 'ignore'];

describe('the processes of this machine', () => {
  test('include this process, without a tag', async () => {
    expect(canReadProcesses()).toBe(true);
    const entries = await readProcesses(tag);
    expect(entries.find(({ pid }) => pid === process.pid)).toMatchObject({ parent: process.ppid, isTagged: false });
    expect(entries.filter(({ isTagged }) => isTagged)).toEqual([]);
  });

  test('are read correctly whatever the name of the program', async () => {
    const program = join(folder, 'a) Z 1 1 (b');
    copyFileSync('/bin/sleep', program);
    const child = Bun.spawn([program, '1000'], { env: tagEntry(tag), stdio, detached: true });
    const find = async () => (await readProcesses(tag)).find(({ pid }) => pid === child.pid);
    // On a busy machine the program may not be running yet, so this looks more than twice.
    await until(async () => (await find())?.isTagged === true);
    expect(await find()).toEqual({
      pid: child.pid,
      parent: process.pid,
      group: child.pid,
      command: 'a) Z 1 1 (b',
      isTagged: true,
    });
    child.kill('SIGKILL');
    await child.exited;
  });

  test('are known by their tag right after their start, in nearly all cases', async () => {
    let [known, inUse] = [0, 0];
    for (let round = 0; round < 50; round++) {
      const child = Bun.spawn(['sleep', '1000'], { env: { PATH: process.env.PATH, ...tagEntry(tag) }, stdio });
      const [entry] = await readProcesses(tag, [child.pid]);
      if (entry?.isTagged) known += 1;
      child.kill('SIGKILL');
      await child.exited;
      const another = Bun.spawn(['sleep', '1000'], { env: { PATH: process.env.PATH, ...tagEntry(tag) }, stdio });
      if ((await findTags(new Set([tag]), [another.pid])).has(tag)) inUse += 1;
      another.kill('SIGKILL');
      await another.exited;
    }
    expect(await findTags(new Set([tag, newTag('GOONDAN_CHILD')]))).toEqual(new Set());
    // If each process were looked at only once, only one in twenty would be found.
    expect(known).toBeGreaterThan(25);
    expect(inUse).toBeGreaterThan(25);
  });

  test('do not include zombies', async () => {
    // The shell starts `true` and then becomes `sleep`. So `sleep` is the parent of `true`, and never reads its exit
    // status.
    const child = Bun.spawn(['sh', '-c', 'true & exec sleep 1000'], { stdio, detached: true });
    const zombies = () => Bun.spawnSync(['ps', '-o', 'pid=,stat=', '--ppid', String(child.pid)]).stdout.toString();
    await until(() => /\d+ Z/.test(zombies()));
    const [dead] = zombies().trim().split(' ').map(Number);
    const pids = (await readProcesses(tag)).map(({ pid }) => pid);
    expect(pids).toContain(child.pid);
    expect(pids).not.toContain(dead);
    child.kill('SIGKILL');
    await child.exited;
  });
});
