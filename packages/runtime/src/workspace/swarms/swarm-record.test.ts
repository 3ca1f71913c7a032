import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemFs } from '../../ports/fs.ts';
import type { StoreWarning } from '../store-ports.ts';
import { readSwarmRecord, recordedRuns, recordSwarm } from './swarm-record.ts';

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

test('stores the name of a swarm for lists of workspaces until another swarm runs there', async () => {
  const place = { stateRoot, workspaceId };
  expect(readSwarmRecord(place)).toBeUndefined();
  await recordSwarm({ ...place, warn }, { swarm: 'shop' });
  expect(readSwarmRecord(place)).toEqual({ swarm: 'shop' });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  await recordSwarm({ ...place, warn }, { swarm: 'market' });
  expect(readSwarmRecord(place)).toEqual({ swarm: 'market' });
  expect(JSON.parse(readFileSync(path, 'utf8'))).toEqual({ swarm: 'market' });
  expect(warnings).toEqual([]);
});

test('the same name is not written again', async () => {
  await recordSwarm({ stateRoot, workspaceId, warn }, { swarm: 'shop' });
  const fs = { ...systemFs, openFile: () => Promise.reject(new Error('written')) };
  await recordSwarm({ stateRoot, workspaceId, warn, fs }, { swarm: 'shop' });
  expect(warnings).toEqual([]);
  await recordSwarm({ stateRoot, workspaceId, warn, fs }, { swarm: 'market' });
  expect(warnings).toEqual([{ path, message: expect.any(String) }]);
});

test('stores the folder of a swarm, and those of earlier swarms that shared the workspace', async () => {
  const recorder = { stateRoot, workspaceId, warn };
  await recordSwarm(recorder, { swarm: 'shop', folder: '/one' });
  await recordSwarm(recorder, { swarm: 'shop', folder: '/two' });
  await recordSwarm(recorder, { swarm: 'shop', folder: '/one' });
  const record = { swarm: 'shop', folder: '/one', earlier: [{ swarm: 'shop', folder: '/two' }] };
  expect(readSwarmRecord(recorder)).toEqual(record);
  expect(recordedRuns(record)).toEqual([
    { swarm: 'shop', folder: '/one' },
    { swarm: 'shop', folder: '/two' },
  ]);
  for (let index = 0; index < 20; index += 1) await recordSwarm(recorder, { swarm: 'shop', folder: `/${index}` });
  expect(recordedRuns(readSwarmRecord(recorder))).toHaveLength(16);
  expect(warnings).toEqual([]);
});

test.each(['', '{', '[]', '{"swarm":7}', '{"swarm":""}', `{"swarm":"${'x'.repeat(5_000)}"}`])(
  'a file that is not a record is ignored: %j',
  (text) => {
    writeFileSync(path, text);
    expect(readSwarmRecord({ stateRoot, workspaceId })).toBeUndefined();
  },
);
