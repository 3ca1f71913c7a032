import { afterEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listWorkspaces, workspaceIds } from './list-workspaces.ts';

const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-workspaces-'));
afterEach(() => rmSync(stateRoot, { recursive: true, force: true }));

function addInstance(workspace: string, name: string, changed?: Date): void {
  const folder = join(stateRoot, 'workspaces', workspace, 'instances', name);
  mkdirSync(folder, { recursive: true });
  if (changed === undefined) return;
  writeFileSync(join(folder, 'metadata.json'), '');
  utimesSync(join(folder, 'metadata.json'), changed, changed);
}

test('lists every workspace with the number of its conversations and the time of the newest change', () => {
  const [early, late] = [new Date('2026-01-01T00:00:00.000Z'), new Date('2026-02-01T00:00:00.000Z')];
  addInstance('shop', 'clerk~a', early);
  addInstance('shop', 'clerk~b', late);
  addInstance('shop', 'clerk~c');
  addInstance('shop', '.deleted-1', new Date('2026-03-01T00:00:00.000Z'));
  addInstance('shop', '.draft-2', new Date('2026-03-01T00:00:00.000Z'));
  addInstance('office-0123456789abcdef', 'clerk~a');
  mkdirSync(join(stateRoot, 'workspaces/fresh/logs'), { recursive: true });
  writeFileSync(join(stateRoot, 'workspaces/shop/swarm.json'), '{"swarm":"My Shop"}');
  mkdirSync(join(stateRoot, 'workspaces/.hidden'));
  mkdirSync(join(stateRoot, 'workspaces/Not Ours'));
  writeFileSync(join(stateRoot, 'workspaces/file'), '');
  symlinkSync(stateRoot, join(stateRoot, 'workspaces/link'));
  const listed = listWorkspaces(stateRoot).toSorted((one, other) => (one.workspaceId < other.workspaceId ? -1 : 1));
  expect(listed).toEqual([
    { workspaceId: 'fresh', instances: 0 },
    { workspaceId: 'office-0123456789abcdef', instances: 1 },
    { workspaceId: 'shop', swarm: 'My Shop', instances: 3, updatedAt: late },
  ]);
  expect(workspaceIds(stateRoot).toSorted()).toEqual(listed.map(({ workspaceId }) => workspaceId));
});

test('leaves out a workspace in which no swarm has run, such as the rest of a killed restore', () => {
  for (const name of ['empty', 'left']) mkdirSync(join(stateRoot, 'workspaces', name), { recursive: true });
  for (const name of ['workspace.lock', 'orchestrator.json', 'orchestrator.json.2'])
    writeFileSync(join(stateRoot, 'workspaces/left', name), '');
  expect(workspaceIds(stateRoot)).toEqual([]);
  writeFileSync(join(stateRoot, 'workspaces/left/swarm.json'), '');
  expect(listWorkspaces(stateRoot)).toEqual([{ workspaceId: 'left', instances: 0 }]);
});

test('a missing state root has no workspaces', () => {
  expect(listWorkspaces(join(stateRoot, 'nowhere'))).toEqual([]);
});
