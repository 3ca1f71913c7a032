import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { workspaceId } from '../layout/workspace-id.ts';
import { listKnownSwarms } from './list-known-swarms.ts';

let root: string;
let stateRoot: string;
beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), 'known-swarms-')));
  stateRoot = join(root, 'state');
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

/** Adds a workspace. `record` is the content of its `swarm.json`, and its swarm logged at `second`. */
function addWorkspace(id: string, record?: object, second = 1): void {
  const folder = join(stateRoot, 'workspaces', id);
  mkdirSync(join(folder, 'logs'), { recursive: true });
  const log = join(folder, 'logs', 'swarm.jsonl');
  writeFileSync(log, '');
  utimesSync(log, second, second);
  if (record !== undefined) writeFileSync(join(folder, 'swarm.json'), JSON.stringify(record));
}

const inFolder = (folder: string) =>
  listKnownSwarms(stateRoot, folder).map(({ swarm, workspaceId: id }) => [swarm, id]);

describe('the swarms of a folder', () => {
  test('are found by the folder they ran from, the last one to log first', () => {
    const folder = join(root, 'bundle');
    mkdirSync(folder);
    addWorkspace('one', { swarm: 'shop', folder }, 10);
    addWorkspace('two', { swarm: 'office', folder }, 30);
    addWorkspace('three', { swarm: 'shop', folder: join(root, 'other') }, 20);
    expect(inFolder(folder)).toEqual([
      ['office', 'two'],
      ['shop', 'one'],
    ]);
    expect(inFolder(join(root, 'nowhere'))).toEqual([]);
  });

  test('are found through a link, and after the folder is deleted', () => {
    const folder = join(root, 'bundle');
    mkdirSync(folder);
    addWorkspace('shop', { swarm: 'shop', folder });
    symlinkSync(root, join(root, 'link'));
    expect(inFolder(join(root, 'link', 'bundle'))).toEqual([['shop', 'shop']]);
    rmSync(folder, { recursive: true });
    expect(inFolder(folder)).toEqual([['shop', 'shop']]);
    expect(inFolder(join(root, 'link', 'bundle'))).toEqual([['shop', 'shop']]);
    writeFileSync(folder, 'a file now');
    expect(inFolder(folder)).toEqual([['shop', 'shop']]);
  });

  test('are found by the id without a record', () => {
    const folder = join(root, 'bundle');
    addWorkspace(workspaceId({ swarmName: 'office', bundleRealPath: folder }), undefined, 1);
    addWorkspace(workspaceId({ swarmName: 'office', bundleRealPath: join(root, 'other') }));
    expect(inFolder(folder).map(([swarm]) => swarm)).toEqual(['office']);
  });

  test('a record with another folder wins over the id', () => {
    const folder = join(root, 'bundle');
    const id = workspaceId({ swarmName: 'shop', bundleRealPath: folder });
    addWorkspace(id, { swarm: 'shop', folder: join(root, 'moved') });
    expect(inFolder(folder)).toEqual([]);
    expect(inFolder(join(root, 'moved'))).toEqual([['shop', id]]);
  });

  test('are found by their own folder, also when they shared a workspace with others', () => {
    const [mine, theirs] = [join(root, 'mine'), join(root, 'theirs')];
    addWorkspace('shared', { swarm: 'b', folder: theirs, earlier: [{ swarm: 'a', folder: mine }] });
    expect(inFolder(mine)).toEqual([['a', 'shared']]);
    expect(inFolder(theirs)).toEqual([['b', 'shared']]);
  });
});
