import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { systemClock } from '../../ports/clock.ts';
import { systemFs } from '../../ports/fs.ts';
import { systemProcesses } from '../../ports/processes.ts';
import { questionsPath, workspaceFolder } from '../layout/instance-paths.ts';
import { sealLines } from '../lines/seal-lines.ts';
import { rejectionOf } from '../simulation/rejection-of.ts';
import { QuestionFile } from './question-file.ts';
import type { QuestionRecord } from '../../questions/question-record.ts';

const workspaceId = 'test';
let stateRoot: string;
let path: string;
let warnings: string[];

beforeEach(() => {
  stateRoot = mkdtempSync(join(tmpdir(), 'questions-'));
  path = questionsPath(workspaceFolder(stateRoot, workspaceId));
  mkdirSync(dirname(path), { recursive: true });
  warnings = [];
});
afterEach(() => rmSync(stateRoot, { recursive: true, force: true }));

function open(fs = systemFs): Promise<QuestionFile> {
  const warn = ({ message }: { message: string }) => void warnings.push(message);
  return QuestionFile.open({ fs, clock: systemClock, processes: systemProcesses, warn }, { stateRoot, workspaceId });
}

function record(id: string, more: Partial<QuestionRecord> = {}): QuestionRecord {
  const call = {
    key: 'k',
    toolCallId: 'x',
    toolName: 'bash__exec',
    kind: 'call' as const,
    args: { command: 'ls' },
    digest: 'd',
  };
  const times = { askedAt: '2026-01-01T00:00:00.000Z', expiresAt: '2026-01-02T00:00:00.000Z' };
  return {
    id,
    agent: 'a',
    instanceKey: 'default',
    eventId: 'e',
    traceId: 't',
    reason: 'r',
    ...call,
    ...times,
    ...more,
  };
}

const answer = { decision: 'approved', decidedAt: '2026-01-01T00:00:00.000Z' } as const;

describe('the questions file', () => {
  test('a torn last line is cut, with a warning', async () => {
    const file = await open();
    await file.put(record('a'));
    await file.close();
    appendFileSync(path, '{"seq":2,"key":"b","value":{"id"');
    const again = await open();
    expect(await again.list()).toEqual([record('a')]);
    await again.close();
    expect(warnings).toHaveLength(1);
    expect(statSync(path).mode & 0o777).toBe(0o600);
  });

  test('a damaged file is kept aside with a warning, and a new one starts empty', async () => {
    const file = await open();
    await file.put(record('a'));
    await file.put(record('b', { answer }));
    await file.close();
    writeFileSync(path, readFileSync(path, 'utf8').replace('"decision"', '"decisiom"').replace('ls', 'xx'));
    const again = await open();
    expect(await again.list()).toEqual([]);
    await again.put(record('c'));
    expect(await again.list()).toEqual([record('c')]);
    await again.close();
    expect(warnings.join()).toContain('is damaged');
    expect(readdirSync(dirname(path)).filter((name) => name.startsWith('approvals.jsonl.corrupt-'))).toHaveLength(1);
  });

  test.each([
    ['and is cut off', false],
    ['and cannot even be cut off', true],
  ])('a write that failed %s damages nothing, and the next one works', async (_, failsToCut) => {
    let isFull = false;
    const full = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }));
    const fs: typeof systemFs = {
      ...systemFs,
      openFile: async (name) => {
        const opened = await systemFs.openFile(name);
        return {
          append: (bytes) => opened.append(bytes),
          truncate: (size) => (isFull && failsToCut ? full() : opened.truncate(size)),
          sync: () => (isFull ? full() : opened.sync()),
          close: () => opened.close(),
        };
      },
    };
    const file = await open(fs);
    await file.put(record('a'));
    isFull = true;
    expect(await rejectionOf(file.put(record('b')))).toMatchObject({ code: 'E_DISK_FULL' });
    isFull = false;
    await file.put(record('c'));
    await file.close();
    const again = await open();
    // A line that could not be cut off stays in the file. It is harmless: its caller got an error, and the line is
    // removed together with its turn.
    const ids = failsToCut ? ['a', 'b', 'c'] : ['a', 'c'];
    expect(await again.list()).toEqual(ids.map((id) => record(id)));
    await again.close();
    expect(warnings).toEqual([]);
  });

  test('N-01 a record that is not a question is reported with its code and key, stays, and the others work', async () => {
    const foreign: Record<string, unknown> = {
      nothing: null,
      number: 5,
      empty: {},
      kind: { ...record('kind'), kind: 'other' },
      args: { ...record('args'), args: null },
      expiry: { ...record('expiry'), expiresAt: 'never' },
      answer: { ...record('answer'), answer: { decision: 'perhaps', decidedAt: answer.decidedAt } },
      page: { ...record('page'), kind: 'page', url: 'javascript:alert(1)' },
      form: { ...record('form'), kind: 'form' },
      'other id': record('a'),
    };
    const { kind: _, ...kindless } = record('kindless');
    const values = { ...foreign, kindless, a: { ...record('a'), later: true }, b: record('b') };
    const lines = Object.entries(values).map(([key, value], at) => JSON.stringify({ seq: at + 1, key, value }));
    const odd = [{ removed: 5 }, { removed: [null] }, { key: 5, value: 1 }, {}];
    const more = odd.map((fields, at) => JSON.stringify({ seq: 20 + at, ...fields }));
    writeFileSync(path, sealLines([...lines, ...more]));
    const file = await open();
    expect(await file.list()).toEqual([{ ...record('a'), later: true } as QuestionRecord, record('b')]);
    expect(await file.answer({ ...record('a'), answer })).toBe(true);
    expect(await file.answer({ ...record('empty'), answer })).toBe(false);
    await file.remove('b');
    await file.close();
    const told = warnings.filter((warning) => warning.startsWith('E_QUESTION_RECORD: '));
    expect(told.map((warning) => /The record "([^"]+)"/.exec(warning)?.[1])).toEqual([
      ...Object.keys(foreign),
      'kindless',
    ]);
    expect(told.join()).toContain('kind is "other", not one of call, change, budget, form, page');
    expect(warnings.filter((warning) => warning.startsWith('left out line'))).toHaveLength(odd.length);
    const again = await open();
    expect(await again.list()).toEqual([{ ...record('a'), answer }]);
    await again.close();
    expect(readFileSync(path, 'utf8')).toContain('"kind":"other"');
  });

  test('removals that wait next to each other are one write, and never overtake a later record', async () => {
    let syncs = 0;
    const fs: typeof systemFs = {
      ...systemFs,
      openFile: async (name) => {
        const opened = await systemFs.openFile(name);
        const sync = () => ((syncs += 1), opened.sync());
        return {
          append: (bytes) => opened.append(bytes),
          truncate: (size) => opened.truncate(size),
          sync,
          close: () => opened.close(),
        };
      },
    };
    const ids = Array.from({ length: 50 }, (_, at) => `f${at}`);
    const file = await open(fs);
    await Promise.all(ids.map((id) => file.put(record(id))));
    syncs = 0;
    const [last = ''] = ids.splice(-1);
    await Promise.all([
      ...ids.map((id) => file.remove(id)),
      file.put(record('new')),
      file.remove('new'),
      file.remove(last),
    ]);
    expect(syncs).toBeLessThan(5);
    expect(await file.list()).toEqual([]);
    await file.close();
    const again = await open();
    expect(await again.list()).toEqual([]);
    await again.close();
  });

  test('a removal that comes during another one is made, too, and one that failed is told to nobody and holds up no other', async () => {
    const begun = Promise.withResolvers<void>();
    const disk = { isGone: false, onSync: () => undefined as void };
    const fs: typeof systemFs = {
      ...systemFs,
      openFile: async (name) => {
        if (disk.isGone) throw Object.assign(new Error('gone'), { code: 'EIO' });
        const opened = await systemFs.openFile(name);
        return {
          append: (bytes) => opened.append(bytes),
          truncate: (size) => opened.truncate(size),
          async sync() {
            disk.onSync();
            if (disk.isGone) throw Object.assign(new Error('gone'), { code: 'EIO' });
            await opened.sync();
          },
          close: () => opened.close(),
        };
      },
    };
    const file = await open(fs);
    for (const id of ['a', 'b', 'c', 'd']) await file.put(record(id));
    const told: string[] = [];
    file.onChange((id) => void told.push(id));
    disk.onSync = begun.resolve;
    const first = file.remove('a');
    await begun.promise;
    await Promise.all([first, file.remove('b')]);
    expect((await file.list()).map(({ id }) => id)).toEqual(['c', 'd']);
    disk.isGone = true;
    // The first one fails on its file, and the second one to open it again.
    for (const id of ['c', 'd']) expect(await rejectionOf(file.remove(id))).toMatchObject({ code: 'E_STORE_WRITE' });
    disk.isGone = false;
    await file.remove('d');
    expect(told).toEqual(['a', 'b', 'd']);
    await file.close();
  });

  test('rejects writes after close', async () => {
    const file = await open();
    await file.close();
    expect(await rejectionOf(file.put(record('a')))).toMatchObject({ code: 'E_SWARM_STOPPED' });
    expect(existsSync(path)).toBe(false);
  });
});
