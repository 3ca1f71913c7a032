import { afterAll, describe, expect, test } from 'bun:test';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemFs } from '../../ports/fs.ts';
import type { StoreLimits } from '../limits.ts';
import { TraceFiles, type TurnLine } from './trace-files.ts';

const root = mkdtempSync(join(tmpdir(), 'trace-files-'));
afterAll(() => rmSync(root, { recursive: true }));

const limits: StoreLimits['traces'] = { turns: 3, bytes: 10_000, turnBytes: 1_000 };

function line(number: number, text: string | undefined, isNeeded = false): TurnLine {
  const turn = { turnId: `turn-${number}`, traceId: 'trace', startedAt: new Date(number) };
  return { turn, isNeeded, text: () => text };
}

async function openFiles(more: Partial<StoreLimits['traces']> = {}) {
  const folder = mkdtempSync(join(root, 'x'));
  const open = () => TraceFiles.open(systemFs, folder, { ...limits, ...more });
  return { folder, open, files: await open() };
}

const names = (folder: string) => readdirSync(folder).toSorted();
const textOf = (folder: string, index = 0) => readFileSync(join(folder, names(folder)[index] ?? ''), 'utf8');

describe('the files of traces', () => {
  test('each turn has its own file, readable only by its owner', async () => {
    const { folder, files } = await openFiles();
    await files.append([line(1, 'a'), line(1, 'b'), line(2, 'c'), line(1, undefined), line(1, 'd')]);
    await files.close();
    expect(names(folder)).toEqual(['19700101000000001~trace~turn-1.jsonl', '19700101000000002~trace~turn-2.jsonl']);
    expect([textOf(folder, 0), textOf(folder, 1)]).toEqual(['a\nb\nd\n', 'c\n']);
    expect(statSync(join(folder, names(folder)[0] ?? '')).mode & 0o777).toBe(0o600);
  });

  test('keeps a limited number of turns, also after a restart; the oldest are deleted', async () => {
    const { folder, open, files } = await openFiles();
    for (const number of [1, 2]) await files.append([line(number, 'x')]);
    await files.close();
    const again = await open();
    for (const number of [3, 4]) await again.append([line(number, 'x')]);
    await again.close();
    expect(names(folder).map((name) => name.slice(-12, -6))).toEqual(['turn-2', 'turn-3', 'turn-4']);
  });

  test('keeps a limited number of bytes', async () => {
    const { folder, files } = await openFiles({ turns: 100, bytes: 2_500 });
    for (const number of [1, 2, 3, 4, 5]) await files.append([line(number, 'x'.repeat(999), true)]);
    await files.close();
    // Three files remain, because the newest file may still be empty when space is made for it.
    expect(names(folder)).toHaveLength(3);
  });

  test('a full file still gets the result of the turn, and a mark that chains are missing', async () => {
    const { folder, files } = await openFiles();
    const lines = [line(1, 'start', true), ...Array.from({ length: 50 }, () => line(1, 'x'.repeat(99)))];
    await files.append(lines);
    await files.append([line(1, 'late'), line(1, 'end', true)]);
    await files.close();
    const written = textOf(folder).trimEnd().split('\n');
    expect(written.slice(-2)).toEqual(['{"type":"cut"}', 'end']);
    expect(written).toHaveLength(1 + 10 + 2);
  });

  test('a resumed turn continues in its file, after half a line left by a crash', async () => {
    const { folder, open, files } = await openFiles();
    await files.append([line(1, 'first')]);
    await files.close();
    appendFileSync(join(folder, names(folder)[0] ?? ''), '{"half');
    const again = await open();
    await again.append([{ ...line(1, 'second'), turn: { ...line(1, '').turn, startedAt: new Date(99) } }]);
    await again.close();
    expect(names(folder)).toHaveLength(1);
    expect(textOf(folder)).toBe('first\n{"half\nsecond\n');
  });

  test('does not touch other files', async () => {
    const { folder, files } = await openFiles({ turns: 1 });
    appendFileSync(join(folder, 'notes.txt'), 'mine');
    for (const number of [1, 2]) await files.append([line(number, 'x')]);
    await files.close();
    expect(names(folder)).toEqual(['19700101000000002~trace~turn-2.jsonl', 'notes.txt']);
  });
});
