import { describe, expect, test } from 'bun:test';
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { RecordLogs } from '../journal/record-logs.ts';
import { tracesFolder } from '../layout/instance-paths.ts';
import { defaultLimits, type StoreLimits } from '../limits.ts';
import { readTraceLines } from './read-trace-file.ts';
import { listTraces } from './trace-names.ts';
import type { TurnLine } from './trace-writer.ts';

const root = temporaryFolder();

const coder = { agentName: 'coder', instanceKey: 'default' };
const helper = { agentName: 'helper', instanceKey: 'A key/with more' };

/** A line that reads back as a note about this number of lost lines. */
function line(number: number, count: number | undefined, isNeeded = false, more = ''): TurnLine {
  const turn = { turnId: `turn-${number}`, traceId: 'trace', startedAt: new Date(number) };
  return {
    turn,
    isNeeded,
    text: () => (count === undefined ? undefined : JSON.stringify({ type: 'dropped', count, more })),
  };
}

function openWorkspace(traces: Partial<StoreLimits['traces']> = {}, fs: Fs = systemFs) {
  const workspace = mkdtempSync(join(root, 'w'));
  const limits = { ...defaultLimits, traces: { ...defaultLimits.traces, ...traces } };
  /** Opens the workspace as another process would. */
  const open = (given: Fs = fs) => new RecordLogs({ fs: given, clock: manualClock() }, workspace, limits);
  const folder = tracesFolder(workspace);
  /** Reads each turn, oldest first: the counts of its lines, or their types. */
  const read = async (from: Fs = systemFs) => {
    const kept = (await listTraces(from, workspace)).toReversed();
    return Object.fromEntries(
      await Promise.all(
        kept.map(async ({ turn, pieces }) => {
          const lines = await readTraceLines(from, pieces);
          return [turn, lines.map((each) => (each.type === 'dropped' ? each.count : each.type))] as const;
        }),
      ),
    );
  };
  return { workspace, folder, open, read, names: () => readdirSync(folder).toSorted() };
}

describe('the traces of a workspace', () => {
  test('are in one file for all instances, each turn readable alone, and only by their owner', async () => {
    const { folder, open, names, read } = openWorkspace();
    const [one, other] = [await open().openTraces(coder), await open().openTraces(helper)];
    await one.append([line(1, 11), line(1, 12), line(2, 21), line(1, undefined), line(1, 13)]);
    await other.append([line(3, 31)]);
    await one.append([line(2, 22)]);
    await other.append([line(3, 32)]);
    await Promise.all([one.close(), other.close()]);
    expect(names()).toEqual(['traces.000001.jsonl']);
    expect(await read()).toEqual({ 'turn-1': [11, 12, 13], 'turn-2': [21, 22], 'turn-3': [31, 32] });
    expect(statSync(join(folder, 'traces.000001.jsonl')).mode & 0o777).toBe(0o600);
  });

  test('cost one write for all lines so far, and nothing else, for all instances of a process', async () => {
    const calls: string[] = [];
    const counting: Fs = {
      ...systemFs,
      list: (path) => (calls.push('list'), systemFs.list(path)),
      stat: (path) => (calls.push('stat'), systemFs.stat(path)),
      async openFile(path) {
        calls.push('open');
        const file = await systemFs.openFile(path);
        return { ...file, append: (bytes) => (calls.push('write'), file.append(bytes)) };
      },
    };
    const logs = openWorkspace({}, counting).open();
    const writers = [await logs.openTraces(coder), await logs.openTraces(helper)];
    await writers[0]?.append([line(0, 1)]);
    calls.splice(0);
    for (let number = 1; number < 50; number += 1) {
      for (const writer of writers) await writer.append([line(number, 1), line(number, 2)]);
    }
    expect(calls).toEqual(Array<string>(98).fill('write'));
    for (const writer of writers) await writer.close();
  });

  test('a turn that reached its limit still gets its result, and a mark that chains are missing', async () => {
    const { open, read } = openWorkspace({ turnBytes: 1_000 });
    const files = await open().openTraces(coder);
    const chains = Array.from({ length: 50 }, () => line(1, 2, false, 'x'.repeat(50)));
    await files.append([line(1, 1, true), ...chains]);
    await files.append([line(1, 3), line(1, 4, true)]);
    await files.close();
    const { 'turn-1': written = [] } = await read();
    expect(written.slice(-2)).toEqual(['cut', 4]);
    expect(written.length).toBeLessThan(15);
  });

  test('a resumed turn continues its trace, after half a line left by a killed process', async () => {
    const { folder, open, names, read } = openWorkspace();
    const files = await open().openTraces(coder);
    await files.append([line(1, 1)]);
    await files.append([line(2, 2)]);
    await files.close();
    appendFileSync(join(folder, names()[0] ?? ''), '{"tag":"12345678","line":{"half');
    const again = await open().openTraces(coder);
    await again.append([{ ...line(1, 9), turn: { ...line(1, 9).turn, startedAt: new Date(99) } }]);
    await again.close();
    // The half line is a gap in its turn.
    expect(await read()).toEqual({ 'turn-1': [1, 9], 'turn-2': [2, 1] });
  });

  test('a full file gets an index, so that a turn is found without reading the file', async () => {
    const { workspace, open, names, read } = openWorkspace({ bytes: 20_000, files: 3 });
    const files = await open().openTraces(coder);
    for (let number = 1; number <= 5; number += 1)
      await files.append([line(number, number, true, 'x'.repeat(10_000)), line(number, 7)]);
    await files.close();
    expect(names()).toEqual([
      'index.000001.json',
      'index.000002.json',
      'traces.000001.jsonl',
      'traces.000002.jsonl',
      'traces.000003.jsonl',
    ]);
    let bytes = 0;
    const measured: Fs = {
      ...systemFs,
      read: async (...given) => {
        const found = await systemFs.read(...given);
        bytes += found?.length ?? 0;
        return found;
      },
    };
    expect(await listTraces(measured, workspace)).toHaveLength(5);
    // Read are two indexes, the last block of each full file, and the file that is not full.
    expect(bytes).toBeLessThan(32_000);
    expect(await read()).toEqual({
      'turn-1': [1, 7],
      'turn-2': [2, 7],
      'turn-3': [3, 7],
      'turn-4': [4, 7],
      'turn-5': [5, 7],
    });
  });

  test('are bounded: the oldest file is deleted with its index', async () => {
    const { open, names, read } = openWorkspace({ bytes: 2_000, files: 2 });
    const files = await open().openTraces(coder);
    for (let number = 1; number <= 9; number += 1) await files.append([line(number, 1, true, 'x'.repeat(950))]);
    await files.close();
    expect(names()).toEqual(['index.000004.json', 'traces.000004.jsonl', 'traces.000005.jsonl']);
    expect(Object.keys(await read())).toEqual(['turn-7', 'turn-8', 'turn-9']);
  });

  test('a late append to a file with an index is found', async () => {
    const { folder, open, read } = openWorkspace({ bytes: 500, files: 3 });
    const files = await open().openTraces(coder);
    for (const number of [1, 2]) await files.append([line(number, number, true, 'x'.repeat(600))]);
    const late = readFileSync(join(folder, 'traces.000002.jsonl'));
    appendFileSync(
      join(folder, 'traces.000001.jsonl'),
      Buffer.from(late.toString().replaceAll('"count":2', '"count":8')),
    );
    await files.close();
    expect(await read()).toEqual({ 'turn-1': [1], 'turn-2': [8, 2] });
  });

  test.each([
    ['with an index', 500],
    ['without an index', 1_000_000],
  ])('a damaged byte of a file %s concerns at most the turn of its line', async (_, bytes) => {
    const { folder, open, names, read } = openWorkspace({ bytes });
    const writers = await Promise.all([coder, helper, coder].map((address) => open().openTraces(address)));
    for (const [at, files] of writers.entries()) {
      const number = at + 1;
      await files.append([line(number, 10 * number, true), line(number, 10 * number + 1)]);
    }
    await writers[0]?.append([line(4, 1, true, 'x'.repeat(30))]);
    await writers[0]?.append([line(5, 1, true)]);
    await Promise.all(writers.map((files) => files.close()));
    const whole = await read();
    expect(Object.keys(whole)).toHaveLength(5);
    expect(names().includes('index.000001.json')).toBe(bytes === 500);
    for (const name of names()) {
      const path = join(folder, name);
      const written = readFileSync(path);
      for (let at = 0; at < written.length; at += 1) {
        const damaged = Buffer.from(written);
        damaged[at] = (damaged[at] ?? 0) ^ (at % 2 === 0 ? 0x01 : 0x04);
        writeFileSync(path, damaged);
        const left = await read();
        const harmed = Object.keys(whole).filter((turn) => !Bun.deepEquals(left[turn], whole[turn]));
        expect(harmed.length, `byte ${at} of ${name}: ${harmed.join()}`).toBeLessThanOrEqual(1);
      }
      writeFileSync(path, written);
    }
  });
});
