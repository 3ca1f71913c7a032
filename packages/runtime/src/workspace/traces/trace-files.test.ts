import { afterAll, describe, expect, test } from 'bun:test';
import {
  appendFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { pathsIn } from '../layout/instance-paths.ts';
import type { StoreLimits } from '../limits.ts';
import { readTraceLines } from './read-trace-file.ts';
import { TraceFiles, type TurnLine } from './trace-files.ts';
import { listTraces } from './trace-names.ts';

const root = mkdtempSync(join(tmpdir(), 'trace-files-'));
afterAll(() => rmSync(root, { recursive: true }));

const limits: StoreLimits['traces'] = { turns: 3, bytes: 10_000, turnBytes: 1_000 };

/** A line that reads back as a note about this number of lost lines. */
function line(number: number, count: number | undefined, isNeeded = false, more = ''): TurnLine {
  const turn = { turnId: `turn-${number}`, traceId: 'trace', startedAt: new Date(number) };
  return {
    turn,
    isNeeded,
    text: () => (count === undefined ? undefined : JSON.stringify({ type: 'dropped', count, more })),
  };
}

async function openFiles(more: Partial<StoreLimits['traces']> = {}, fs: Fs = systemFs) {
  const workspace = mkdtempSync(join(root, 'x'));
  const folder = pathsIn(join(workspace, 'instances', 'a~k')).traces;
  mkdirSync(folder, { recursive: true });
  const open = () => TraceFiles.open(fs, folder, { ...limits, ...more });
  /** Reads each turn, oldest first: the counts of its lines, or their types. */
  const read = async () => {
    const traces = (await listTraces(systemFs, workspace)).toReversed();
    return Object.fromEntries(
      await Promise.all(
        traces.map(async ({ turn, pieces }) => {
          const lines = await readTraceLines(systemFs, pieces);
          return [turn, lines.map((each) => (each.type === 'dropped' ? each.count : each.type))] as const;
        }),
      ),
    );
  };
  const names = () => readdirSync(folder).toSorted();
  return { folder, open, read, names, files: await open() };
}

describe('the segments of traces', () => {
  test('hold the lines of several turns, each readable alone, and only by their owner', async () => {
    const { folder, files, names, read } = await openFiles({ turns: 80 });
    await files.append([line(1, 11), line(1, 12), line(2, 21), line(1, undefined), line(1, 13)]);
    await files.append([line(3, 31)]);
    await files.close();
    expect(names()).toEqual(['traces.000001.jsonl']);
    expect(await read()).toEqual({ 'turn-1': [11, 12, 13], 'turn-2': [21], 'turn-3': [31] });
    expect(statSync(join(folder, 'traces.000001.jsonl')).mode & 0o777).toBe(0o600);
  });

  test('cost one file for 25 turns of 200, one write for all lines so far, and no listing', async () => {
    const calls: string[] = [];
    const counting: Fs = {
      ...systemFs,
      list: (path) => (calls.push('list'), systemFs.list(path)),
      remove: (path) => (calls.push('remove'), systemFs.remove(path)),
      async openFile(path) {
        calls.push('open');
        const file = await systemFs.openFile(path);
        return { ...file, append: (bytes) => (calls.push('write'), file.append(bytes)) };
      },
    };
    const { files } = await openFiles({ turns: 200, bytes: 32_000_000 }, counting);
    calls.splice(0);
    for (let number = 0; number < 100; number += 1) await files.append([line(number, 1), line(number, 2)]);
    await files.close();
    expect(Object.fromEntries(['list', 'remove', 'open'].map((kind) => [kind, countOf(calls, kind)]))).toEqual({
      list: 0,
      remove: 0,
      open: 4,
    });
    // One write for each append, and one for each of the three full segments.
    expect(countOf(calls, 'write')).toBe(103);
  });

  test('keep a limited number of turns, also after a restart; the oldest are deleted', async () => {
    const { open, files, read } = await openFiles();
    for (const number of [1, 2]) await files.append([line(number, 1)]);
    await files.close();
    const again = await open();
    for (const number of [3, 4]) await again.append([line(number, 1)]);
    await again.close();
    expect(Object.keys(await read())).toEqual(['turn-2', 'turn-3', 'turn-4']);
  });

  test('never keep more turns than the limit, and at most an eighth fewer', async () => {
    const { files, read } = await openFiles({ turns: 16, bytes: 1_000_000 });
    for (let number = 0; number < 40; number += 1) {
      await files.append([line(number, 1)]);
      const kept = Object.keys(await read()).length;
      expect(kept).toBeLessThanOrEqual(16);
      if (number >= 16) expect(kept).toBeGreaterThanOrEqual(14);
    }
    await files.close();
    expect(Object.keys(await read()).at(-1)).toBe('turn-39');
  });

  test('keep a limited number of bytes', async () => {
    const { files, read } = await openFiles({ turns: 100, bytes: 2_500 });
    for (const number of [1, 2, 3, 4, 5]) await files.append([line(number, 1, true, 'x'.repeat(950))]);
    await files.close();
    // Three turns remain, because the newest turn is still empty when space is made for it.
    expect(Object.keys(await read())).toEqual(['turn-3', 'turn-4', 'turn-5']);
  });

  test('a turn that reached its limit still gets its result, and a mark that chains are missing', async () => {
    const { files, read } = await openFiles();
    const chains = Array.from({ length: 50 }, () => line(1, 2, false, 'x'.repeat(50)));
    await files.append([line(1, 1, true), ...chains]);
    await files.append([line(1, 3), line(1, 4, true)]);
    await files.close();
    const { 'turn-1': written = [] } = await read();
    expect(written.slice(-2)).toEqual(['cut', 4]);
    expect(written).toHaveLength(1 + 10 + 2);
  });

  test('a resumed turn continues under its name, after half a line left by a crash', async () => {
    const { folder, open, files, names, read } = await openFiles({ turns: 80 });
    await files.append([line(1, 1)]);
    await files.append([line(2, 2)]);
    await files.close();
    appendFileSync(join(folder, names()[0] ?? ''), '{"n":1,"line":{"half');
    const again = await open();
    await again.append([{ ...line(1, 9), turn: { ...line(1, 9).turn, startedAt: new Date(99) } }]);
    await again.close();
    expect(names()).toHaveLength(1);
    // The half line is a gap in its turn.
    expect(await read()).toEqual({ 'turn-1': [1, 9], 'turn-2': [2, 1] });
  });

  test('a turn continues after its segment is full, in the next one', async () => {
    const { open, files, names, read } = await openFiles({ turns: 16, bytes: 1_000_000 });
    for (const number of [1, 2, 3]) await files.append([line(number, number)]);
    await files.close();
    const again = await open();
    await again.append([line(4, 4)]);
    await again.append([line(1, 9)]);
    await again.close();
    expect(names()).toHaveLength(3);
    expect(await read()).toEqual({ 'turn-1': [1, 9], 'turn-2': [2], 'turn-3': [3], 'turn-4': [4] });
  });

  test.each([
    ['with an index', 16],
    ['without an index', 80],
  ])('a damaged byte of a segment %s concerns at most the turn of its line', async (_, turns) => {
    const { folder, files, names, read } = await openFiles({ turns, bytes: 1_000_000 });
    for (const number of [1, 2, 3])
      await files.append([line(number, 10 * number, true), line(number, 10 * number + 1)]);
    await files.close();
    const whole = await read();
    for (const name of names()) {
      const path = join(folder, name);
      const bytes = readFileSync(path);
      for (let bit = 0; bit < 2 * bytes.length; bit += 1) {
        const at = bit >> 1;
        const damaged = Buffer.from(bytes);
        damaged[at] = (damaged[at] ?? 0) ^ (bit % 2 === 0 ? 0x01 : 0x04);
        writeFileSync(path, damaged);
        const left = await read();
        const harmed = ['turn-1', 'turn-2', 'turn-3'].filter((turn) => !Bun.deepEquals(left[turn], whole[turn]));
        expect(harmed.length, `byte ${at} of ${name}: ${harmed.join()}`).toBeLessThanOrEqual(1);
      }
      writeFileSync(path, bytes);
    }
  });

  test('files of one turn each, from an older version, are read, counted and deleted first', async () => {
    const { folder, open, read, names } = await openFiles();
    for (const number of [1, 2]) {
      writeFileSync(join(folder, `1970010100000000${number}~trace~turn-${number}.jsonl`), '{"type":"cut"}\n');
    }
    const files = await open();
    await files.append([{ ...line(2, 9), turn: { ...line(2, 9).turn, startedAt: new Date(50) } }]);
    expect(await read()).toEqual({ 'turn-1': ['cut'], 'turn-2': ['cut', 9] });
    for (const number of [3, 4]) await files.append([line(number, 1)]);
    await files.close();
    expect(names()[0]).toBe('19700101000000002~trace~turn-2.jsonl');
    expect(Object.keys(await read())).toEqual(['turn-2', 'turn-3', 'turn-4']);
  });

  test('do not touch other files', async () => {
    const { folder, files, names } = await openFiles({ turns: 1 });
    appendFileSync(join(folder, 'notes.txt'), 'mine');
    for (const number of [1, 2]) await files.append([line(number, 1)]);
    await files.close();
    expect(names()).toEqual(['notes.txt', 'traces.000002.jsonl']);
  });
});

function countOf(calls: readonly string[], kind: string): number {
  return calls.filter((each) => each === kind).length;
}
