import { expect, test } from 'bun:test';
import { instancePaths, workspaceFolder } from './instance-paths.ts';
import { stateRoot } from './state-root.ts';
import { nodeWorkspaceId, workspaceId } from './workspace-id.ts';

test('two bundles with a swarm named default have different workspaces', () => {
  const one = workspaceId({ swarmName: 'default', bundleRealPath: '/home/me/one' });
  const two = workspaceId({ swarmName: 'default', bundleRealPath: '/home/me/two' });
  expect(one).toMatch(/^default-[0-9a-f]{16}$/);
  expect(one).not.toBe(two);
  expect(workspaceId({ swarmName: 'default', bundleRealPath: '/home/me/one' })).toBe(one);
});

test('a named workspace is shared, and always differs from an unnamed one', () => {
  const named = { workspace: 'team', swarmName: 'default', bundleRealPath: '/home/me/one' };
  expect(workspaceId(named)).toBe('team');
  expect(workspaceId({ ...named, bundleRealPath: '/home/me/two' })).toBe('team');
  const unnamed = workspaceId({ swarmName: 'default', bundleRealPath: '/home/me/one' });
  expect(workspaceId({ ...named, workspace: unnamed })).not.toBe(unnamed);
  expect(workspaceId({ ...named, workspace: 'My Team' })).not.toBe(workspaceId({ ...named, workspace: 'my-team' }));
});

test('a node has a workspace of its own for each swarm, name and store, which is no workspace of a swarm', () => {
  const ids = [
    nodeWorkspaceId('default', 'one', 'db.example:5432/a'),
    nodeWorkspaceId('default', 'one', 'db.example:5432/b'),
    nodeWorkspaceId('default', 'two', 'db.example:5432/a'),
    nodeWorkspaceId('other', 'one', 'db.example:5432/a'),
  ];
  expect(new Set(ids).size).toBe(4);
  for (const id of ids) expect(id).toMatch(/^node@[a-z0-9_-]+-[0-9a-f]{16}$/);
});

test('R-06 state lives under ~/.goondan/workspaces/<workspaceId>/instances/<instance>, not in the project, unless told otherwise', () => {
  const project = '/home/me/project';
  const root = stateRoot({ home: '/home/me' });
  const workspace = workspaceFolder(root, workspaceId({ swarmName: 'default', bundleRealPath: project }));
  const { base } = instancePaths(workspace, { agentName: 'coder', instanceKey: 'default' });
  expect(base).toMatch(
    /^\/home\/me\/\.goondan\/workspaces\/default-[0-9a-f]{16}\/instances\/coder~default\/messages\/base\.jsonl$/,
  );
  expect(base.startsWith(project)).toBe(false);
  expect(stateRoot({ environment: '/var/goondan', home: '/home/me' })).toBe('/var/goondan');
  expect(stateRoot({ option: '/tmp/x', environment: '/var/goondan', home: '/home/me' })).toBe('/tmp/x');
  expect(stateRoot({ option: '', environment: '', home: '/home/me' })).toBe('/home/me/.goondan');
});
