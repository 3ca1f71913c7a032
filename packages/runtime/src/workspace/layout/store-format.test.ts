import { expect, test } from 'bun:test';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { GoondanError } from '@goondan/types';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { systemFs } from '../../ports/fs.ts';
import { joinFiles } from '../../store/files/file-placement.ts';
import { openStoreReader } from '../../store/files/open-store-reader.ts';
import { openSwarmList } from '../../store/files/open-swarm-list.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { refuseOtherFormat, writeFormat } from './store-format.ts';

const temporary = temporaryFolder();

function newRoot(format?: string) {
  const stateRoot = mkdtempSync(join(temporary, 'root-'));
  const path = join(stateRoot, 'format.json');
  if (format !== undefined) writeFileSync(path, format);
  return { stateRoot, path };
}

const run = { swarm: 'shop', runTag: 'tag' };

test('the first owner writes the format, and later ones accept it', async () => {
  const { stateRoot, path } = newRoot();
  await refuseOtherFormat({ stateRoot });
  for (const workspaceId of ['one', 'two']) {
    const placement = await joinFiles({ stateRoot, workspaceId }, run);
    expect(readFileSync(path, 'utf8')).toBe('{"formatVersion":1}\n');
    await placement.leave();
  }
});

test('owners may write the format at the same time, and write a file again that was not finished', async () => {
  const fs = { ...systemFs, remove: () => Promise.reject(new Error('removed')) };
  for (const format of [undefined, '', '{"form', '\0\0']) {
    const { stateRoot, path } = newRoot(format);
    const place = format === undefined ? { stateRoot, fs } : { stateRoot };
    await Promise.all(Array.from({ length: 8 }, () => writeFormat(place)));
    expect(readFileSync(path, 'utf8')).toBe('{"formatVersion":1}\n');
  }
});

test('a format that is whole is not written again, so that no process ever misses it', async () => {
  const { stateRoot } = newRoot('{"formatVersion":1}\n');
  const fs = { ...systemFs, createNew: () => Promise.reject(new Error('written again')) };
  expect(await writeFormat({ stateRoot, fs })).toBeUndefined();
});

test.each([
  ['has format 0', '{"formatVersion":0}\n'],
  ['has format 12', '{\n  "name": "later", "formatVersion": 12\n}'],
  ['is damaged', '{"version":2}'],
  ['is damaged', 'later'],
  ['is damaged', '{"formatVersion":"1"}'],
  ['is damaged', 'null'],
])('a state root whose format.json %s gives one clear error, and is not changed: %j', async (problem, text) => {
  const { stateRoot, path } = newRoot(text);
  const place = { stateRoot, workspaceId: 'shop' };
  const at = { agentName: 'host', instanceKey: 'default' };
  const { directory, history, traces, logs } = openStoreReader(place);
  const uses = [
    joinFiles(place, run),
    openSwarmList(place).list(),
    ...[directory.exists(), directory.instances(), history.read(at), traces.list(), logs.read({ last: 1 })],
  ];
  for (const use of uses) {
    const { code, message, suggestion } = (await rejectionOf(use)) as GoondanError;
    expect({ code, text: message }).toEqual({ code: 'E_STORE_FORMAT', text: expect.stringContaining(` ${problem}`) });
    expect(suggestion.includes('{"formatVersion":1}')).toBe(problem === 'is damaged');
  }
  expect(readFileSync(path, 'utf8')).toBe(text);
  expect(existsSync(join(stateRoot, 'workspaces'))).toBe(false);
});
