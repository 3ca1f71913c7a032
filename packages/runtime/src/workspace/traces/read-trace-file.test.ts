import { expect, test } from 'bun:test';
import { statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import { systemFs } from '../../ports/fs.ts';
import { readTraceLines, readTraceSummary } from './read-trace-file.ts';
import { lineStart as startOf } from './trace-blocks.ts';

const folder = temporaryFolder();
const lineStart = startOf('0a0b0c0d');

/** Makes a line of the file. */
function lineOf(line: object): string {
  return `${lineStart}${JSON.stringify(line)}}\n`;
}

function startAt(time: string) {
  const ids = { turnId: 't', agentName: 'a', instanceKey: 'k', traceId: 'x', spanId: 's' };
  return { type: 'start', ...ids, source: { kind: 'cli', name: 'gdn' }, time };
}

test('half a line left by a crash is reported as a gap; one that is being written is not', async () => {
  const path = join(folder, 'turn.jsonl');
  const half = lineOf({ type: 'chain', n: 1 }).slice(0, -9);
  const text = `${lineOf({ type: 'cut' })}${half}\n${lineOf({ type: 'cut' })}${half}`;
  writeFileSync(path, text);
  expect(await readTraceLines(systemFs, [{ path, from: 0, to: text.length, lineStart }])).toEqual([
    { type: 'cut' },
    { type: 'dropped', count: 1 },
    { type: 'cut' },
  ]);
});

test('lines that a deletion has erased are no gap, even if it comes between two reads', async () => {
  const texts = [`{"tag":"9f31c2aa","line":{"type":"cut"}}\n`, `${' '.repeat(40)}\n`];
  const fs = { ...systemFs, read: async () => Buffer.from(texts.shift() ?? '') };
  const piece = { path: 'traces', from: 0, to: 41, lineStart: '{"tag":"9f31c2aa","line":' };
  expect(await readTraceLines(fs, [piece, piece])).toEqual([{ type: 'cut' }]);
});

test('a line that begins with spaces and has anything else is a gap', async () => {
  const fs = { ...systemFs, read: async () => Buffer.from(`    ${lineOf({ type: 'cut' })}`) };
  const piece = { path: 'traces', from: 0, to: 80, lineStart };
  expect(await readTraceLines(fs, [piece])).toEqual([{ type: 'dropped', count: 1 }]);
});

test('the summary of a short trace in several pieces has every run of the turn', async () => {
  const path = join(folder, 'turn.jsonl');
  const time = new Date(0).toISOString();
  const start = startAt(time);
  const lines = [start, { ...start, resumed: true }, { type: 'cut' }].map(lineOf);
  writeFileSync(path, lines.join(''));
  let from = 0;
  const pieces = lines.map(({ length }) => ({ path, from, to: (from += length), lineStart }));
  expect(await readTraceSummary(systemFs, pieces)).toMatchObject({ turnId: 't', resumes: 1 });
});

test('the summary of a long trace has the end of the turn, although its last piece is short', async () => {
  const [first, last] = [join(folder, 'traces.000001.jsonl'), join(folder, 'traces.000002.jsonl')];
  const time = new Date(0).toISOString();
  const start = startAt(time);
  const end = { type: 'end', time, durationMs: 5, finishReason: 'text_response', stepCount: 1 };
  const other = 'a line of another turn\n';
  const text = lineOf(end);
  writeFileSync(first, lineOf(start) + lineOf({ type: 'cut' }).repeat(4_000));
  writeFileSync(last, other + text);
  const pieces = [
    { path: first, from: 0, to: statSync(first).size, lineStart },
    { path: last, from: other.length, to: other.length + text.length, lineStart },
  ];
  expect(await readTraceSummary(systemFs, pieces)).toMatchObject({ turnId: 't', finishReason: 'text_response' });
});
