import { afterAll, beforeEach, describe, expect, test } from 'bun:test';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { systemClock } from '../../ports/clock.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { blame } from '../history/blame.ts';
import { durableStore } from '../journal/durable-store.ts';
import type { Journal } from '../journal/journal.ts';
import type { StoreWarning } from '../store-ports.ts';
import { keptFolder } from '../layout/kept-workspace.ts';
import { mayBeOld } from './format-file.ts';
import { removeKept } from './kept-files.ts';
import { migrateWorkspace } from './migrate-workspace.ts';
import { fixture, writeOldRoot } from '../../../../../test/format-1/write-old-root.ts';
import { sampledCases } from '../../../../../test/samples.ts';

const folder = mkdtempSync(join(tmpdir(), 'goondan-format-1-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let stateRoot = '';
let warnings: StoreWarning[] = [];
let count = 0;
beforeEach(() => {
  stateRoot = join(folder, String(++count));
  warnings = [];
  writeOldRoot(stateRoot);
});

const keys = Object.keys(fixture.expected);
const place = () => ({ stateRoot, workspaceId: 'shop' });
const ports = (fs: Fs = systemFs) => {
  return {
    fs,
    clock: systemClock,
    processes: systemProcesses,
    warn: (warning: StoreWarning) => void warnings.push(warning),
  };
};
const instances = (root = stateRoot) => join(root, 'workspaces/shop/instances');

/** Reads everything about a conversation, as JSON. */
async function contentsOf(journal: Journal, instanceKey: string): Promise<unknown> {
  const at = { agentName: 'coder', instanceKey };
  const turns = [];
  for await (const turn of journal.archive(at)) turns.push(turn);
  const open = fixture.open[instanceKey];
  const { start } = await journal.history(at);
  const contents = {
    read: await journal.read(at),
    turns,
    start,
    blame: await blame(journal, at, { replaced: 10 }),
    pending: await journal.pendingEntries(at),
    outbox: await journal.outbox.pending(at),
    letters: await journal.deadLetters.list(at),
    summary: await journal.summary(at),
    log: open === undefined ? [] : (await journal.open(at, open)).log,
  };
  return JSON.parse(JSON.stringify(contents));
}

async function readAll(): Promise<Record<string, unknown>> {
  const journal = await durableStore({ ...place(), ...ports() });
  const all: Record<string, unknown> = {};
  for (const key of keys) all[key] = await contentsOf(journal, key);
  await journal.close();
  return all;
}

function codeOf(error: unknown): string {
  return GoondanError.is(error) ? error.code : String(error);
}

describe('a workspace of format 1', () => {
  test('is migrated: every message, event, author, state, input, answer and dead letter is the same', async () => {
    expect(await mayBeOld(ports(), place())).toBe(true);
    // An instance that has only input has no metadata, and no format.
    expect(await migrateWorkspace(ports(), place())).toEqual({ migrated: keys.length - 1, left: [] });
    expect(await mayBeOld(ports(), place())).toBe(false);
    expect(await readAll()).toEqual(fixture.expected);
    expect(warnings).toEqual([]);
  });

  test('keeps the old files in a folder that an older version can use as its state root', async () => {
    await migrateWorkspace(ports(), place());
    for (const [path, text] of Object.entries(fixture.files))
      expect(readFileSync(join(keptFolder(stateRoot), path), 'utf8')).toBe(text);
    expect(readFileSync(join(instances(keptFolder(stateRoot)), 'coder~dead/lock'), 'utf8')).toContain('"owner":null');
    expect(await removeKept(ports(), place())).toBeGreaterThan(0);
    expect(existsSync(instances(keptFolder(stateRoot)))).toBe(false);
    expect(await removeKept(ports(), place())).toBe(0);
  });

  test('the files of the workspace are in the kept copy before its first instance is', async () => {
    writeFileSync(join(stateRoot, 'workspaces/shop/approvals.jsonl'), 'questions');
    const kept = join(keptFolder(stateRoot), 'workspaces/shop/approvals.jsonl');
    const seen: boolean[] = [];
    const makeFolder = async (path: string) => {
      if (path === instances(keptFolder(stateRoot))) seen.push(existsSync(kept));
      await systemFs.makeFolder(path);
    };
    await migrateWorkspace(ports({ ...systemFs, makeFolder }), place());
    expect(seen[0]).toBe(true);
    expect(readFileSync(kept, 'utf8')).toBe('questions');
  });

  test('goes on after the migration: the interrupted turn is resumed, and pending input is handled', async () => {
    await migrateWorkspace(ports(), place());
    const journal = await durableStore({ ...place(), ...ports() });
    const at = { agentName: 'coder', instanceKey: 'interrupted' };
    const turnId = fixture.open['interrupted'] ?? '';
    const [entry] = await journal.pendingEntries(at);
    const turn = await journal.open(at, turnId, entry);
    const { epoch, log } = turn;
    await journal.append(at, epoch, log.length, [{ type: 'resumed' }]);
    const messages = [...(await turn.loadBase())];
    await journal.commit(
      at,
      epoch,
      turnId,
      { type: 'rewrite', messages },
      {},
      { turnId, finishReason: 'text_response' },
    );
    expect(await journal.pending(at)).toEqual([]);
    expect((await journal.read(at)).version).toBe(2);
    const { messages: blamed } = await blame(journal, at);
    await journal.close();
    const again = await durableStore({ ...place(), ...ports() });
    expect((await again.open(at, turnId)).finished).toEqual({ turnId, finishReason: 'text_response' });
    expect((await blame(again, at)).messages).toEqual(blamed);
    await again.close();
  });

  test.each([false, true])(
    'a lost metadata.json is not a new conversation, even if a process had opened it: %p',
    async (isOpened) => {
      await migrateWorkspace(ports(), place());
      const gone = { ...ports(), processes: { ...systemProcesses, isAlive: () => false } };
      if (isOpened) {
        const killed = await durableStore({ ...place(), ...gone });
        for (const key of keys)
          await killed.open({ agentName: 'coder', instanceKey: key }, fixture.open[key] ?? 'turn');
      }
      for (const name of readdirSync(instances())) rmSync(join(instances(), name, 'metadata.json'), { force: true });
      const journal = await durableStore({ ...place(), ...gone });
      // The other conversation has no log yet.
      for (const instanceKey of keys.filter((key) => key !== 'only-input')) {
        const at = { agentName: 'coder', instanceKey };
        for (const read of [journal.read(at), journal.summary(at), journal.open(at, 'turn')]) {
          const code = await read.then(
            () => 'none',
            (error: unknown) => codeOf(error),
          );
          expect([instanceKey, code]).toEqual([instanceKey, 'E_STORE_CORRUPT']);
        }
      }
    },
  );

  test('a conversation whose creation a kill interrupted has its input afterwards, and the kept copy has its files', async () => {
    const instance = join(instances(), 'coder~only-input');
    const files = ['base', 'events', 'turn', 'archive'].map((name) => `messages/${name}.jsonl`);
    for (const made of ['messages', 'extensions', 'scratch']) mkdirSync(join(instance, made));
    for (const file of [...files, 'outbox.jsonl', 'deadletter.jsonl']) writeFileSync(join(instance, file), '');
    await migrateWorkspace(ports(), place());
    expect(readdirSync(instance)).toEqual(['inbox.jsonl']);
    const kept = join(stateRoot, 'format-1/workspaces', place().workspaceId, 'instances/coder~only-input');
    expect(files.filter((file) => existsSync(join(kept, file)))).toEqual(files);
    expect(await readAll()).toEqual(fixture.expected);
  });

  test('survives an end of the process after any operation of the disk', async () => {
    const untouched = `${stateRoot}-untouched`;
    cpSync(stateRoot, untouched, { recursive: true });
    const { operations } = await migrateWithEnd(Number.POSITIVE_INFINITY);
    const points = Array.from({ length: 5 }, (_, index) => Math.floor((operations * (index + 1)) / 6));
    for (const point of sampledCases(points, 5, 2)) {
      stateRoot = `${stateRoot}-${point}`;
      cpSync(untouched, stateRoot, { recursive: true });
      const { isEnded } = await migrateWithEnd(point);
      expect(isEnded).toBe(true);
      const processes = { ...systemProcesses, isAlive: () => false };
      await migrateWorkspace({ ...ports(), processes }, place());
      expect(await readAll()).toEqual(fixture.expected);
      expect(readdirSync(instances()).filter((name) => name.startsWith('.'))).toEqual([]);
    }
  });

  test('a damaged instance stays as it is, and is migrated after it was repaired; the others are not concerned', async () => {
    const archive = join(instances(), 'coder~answers/messages/archive.jsonl');
    const text = readFileSync(archive, 'utf8');
    writeFileSync(archive, text.replace('"version":1', '"version":7'));
    const { migrated, left } = await migrateWorkspace(ports(), place());
    expect([migrated, left]).toEqual([keys.length - 2, ['coder~answers']]);
    expect(warnings.map(({ message }) => message).join()).toContain('stays in format 1, because it is damaged');
    const journal = await durableStore({ ...place(), ...ports() });
    const read = journal.read({ agentName: 'coder', instanceKey: 'answers' });
    expect(await read.catch((error: unknown) => error)).toMatchObject({
      code: 'E_STORE_FORMAT',
      message: expect.stringContaining(
        `${join(instances(), 'coder~answers')} stays in format 1: ${archive} is damaged`,
      ),
      suggestion: expect.stringContaining('Restore the damaged file from a backup'),
    });
    expect(await contentsOf(journal, 'dead')).toEqual(fixture.expected['dead']);
    await journal.close();
    writeFileSync(archive, text);
    expect(await migrateWorkspace(ports(), place())).toEqual({ migrated: 1, left: [] });
    expect(await readAll()).toEqual(fixture.expected);
    const folders = [instances(), instances(keptFolder(stateRoot))].map((each) => join(each, 'coder~answers'));
    expect(folders.flatMap((each) => readdirSync(each))).not.toContain('migration-problem.txt');
  });

  test('is rejected when a newer version wrote it', async () => {
    const format = { formatVersion: 3, migratedAt: new Date().toISOString(), left: [] };
    writeFileSync(join(stateRoot, 'workspaces/shop/format.json'), JSON.stringify(format));
    const error = await migrateWorkspace(ports(), place()).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E_STORE_FORMAT' });
  });

  test('copies scratch, traces and runtime events, and follows no link', async () => {
    const answers = join(instances(), 'coder~answers');
    mkdirSync(join(answers, 'scratch/deep'), { recursive: true });
    mkdirSync(join(answers, 'traces'), { recursive: true });
    writeFileSync(join(answers, 'scratch/deep/note'), 'mine');
    symlinkSync('/nowhere', join(answers, 'scratch/link'));
    writeFileSync(join(answers, 'traces/a.jsonl'), 'trace');
    writeFileSync(join(answers, 'messages/runtime-events.jsonl'), 'events');
    await migrateWorkspace(ports(), place());
    expect(readFileSync(join(answers, 'scratch/deep/note'), 'utf8')).toBe('mine');
    expect(readlinkSync(join(answers, 'scratch/link'))).toBe('/nowhere');
    expect(readFileSync(join(answers, 'traces/a.jsonl'), 'utf8')).toBe('trace');
    expect(readFileSync(join(answers, 'messages/runtime-events.jsonl'), 'utf8')).toBe('events');
  });
});

/** Migrates until `limit` operations were made on the disk; then every further one fails, as if the process had ended. */
async function migrateWithEnd(limit: number): Promise<{ readonly operations: number; readonly isEnded: boolean }> {
  let operations = 0;
  const operate = () => {
    operations += 1;
    if (operations > limit) throw Object.assign(new Error('the end'), { code: 'EIO' });
  };
  const guarded = <Port extends object>(port: Port, names: readonly string[]): Port =>
    new Proxy(port, {
      get(target, name, self) {
        const value: unknown = Reflect.get(target, name, self);
        if (typeof value !== 'function' || !names.includes(String(name))) return value;
        return async (...given: unknown[]) => {
          operate();
          const result: unknown = await Reflect.apply(value, target, given);
          return name === 'openFile' ? guarded(result as object, ['append', 'sync', 'truncate']) : result;
        };
      },
    });
  const fs = guarded(systemFs, [
    'makeFolder',
    'openFile',
    'createNew',
    'rename',
    'remove',
    'removeFolder',
    'syncFolder',
  ]);
  const ended = await migrateWorkspace(ports(fs), place()).then(
    () => false,
    () => true,
  );
  return { operations, isEnded: ended };
}
