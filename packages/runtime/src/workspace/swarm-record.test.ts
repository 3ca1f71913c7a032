import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemFs } from '../ports/fs.ts';
import type { StoreWarning } from './store-ports.ts';
import { readSwarmRecord, recordSwarm } from './swarm-record.ts';

let stateRoot = '';
let path = '';
const workspaceId = 'shop';
const warnings: StoreWarning[] = [];
const warn = (warning: StoreWarning) => void warnings.push(warning);
beforeEach(() => {
  stateRoot = mkdtempSync(join(tmpdir(), 'goondan-record-'));
  const folder = join(stateRoot, 'workspaces', workspaceId);
  mkdirSync(folder, { recursive: true });
  path = join(folder, 'swarm.json');
  warnings.length = 0;
});
afterEach(() => rmSync(stateRoot, { recursive: true, force: true }));

test('the name of a swarm is there for who lists workspaces, until another one runs there', async () => {
  const place = { stateRoot, workspaceId };
  expect(readSwarmRecord(place)).toBeUndefined();
  await recordSwarm({ ...place, warn }, 'shop');
  expect(readSwarmRecord(place)).toEqual({ swarm: 'shop' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await recordSwarm({ ...place, warn }, 'market');
  expect(readSwarmRecord(place)).toEqual({ swarm: 'market' });
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ formatVersion: 1, swarm: 'market' });
  expect(warnings).toEqual([]);
});

test('the same name is not written again', async () => {
  await recordSwarm({ stateRoot, workspaceId, warn }, 'shop');
  const fs = { ...systemFs, openFile: () => Promise.reject(new Error('written')) };
  await recordSwarm({ stateRoot, workspaceId, warn, fs }, 'shop');
  expect(warnings).toEqual([]);
  await recordSwarm({ stateRoot, workspaceId, warn, fs }, 'market');
  expect(warnings).toEqual([{ path, message: expect.any(String) }]);
});

test.each(['', '{', '[]', '{"swarm":7}', '{"swarm":""}', `{"swarm":"${'x'.repeat(5_000)}"}`])(
  'a file that is not one of ours is as good as none: %j',
  (text) => {
    writeFileSync(path, text);
    expect(readSwarmRecord({ stateRoot, workspaceId })).toBeUndefined();
  },
);
