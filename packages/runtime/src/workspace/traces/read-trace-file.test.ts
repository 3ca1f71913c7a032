import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemFs } from '../../ports/fs.ts';
import { readTraceLines, readTraceSummary } from './read-trace-file.ts';

test('half a line left by a crash is reported as a gap; one that is being written is not', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trace-file-'));
  try {
    const path = join(folder, 'turn.jsonl');
    writeFileSync(
      path,
      '{"type":"cut"}\n{"type":"chain","n":\n{"type":"of a later version"}\n{"type":"cut"}\n{"type":"cha',
    );
    expect(await readTraceLines(systemFs, [{ path, from: 0, to: Number.POSITIVE_INFINITY }])).toEqual([
      { type: 'cut' },
      { type: 'dropped', count: 1 },
      { type: 'cut' },
    ]);
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('the summary of a short trace in several pieces has every run of the turn', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'trace-file-'));
  try {
    const path = join(folder, 'turn.jsonl');
    const time = new Date(0).toISOString();
    const start = { type: 'start', turnId: 't', agentName: 'a', instanceKey: 'k', traceId: 'x', spanId: 's', time };
    const lines = [start, { ...start, resumed: true }, { type: 'cut' }].map((line) => `${JSON.stringify(line)}\n`);
    writeFileSync(path, lines.join(''));
    let from = 0;
    const pieces = lines.map(({ length }) => ({ path, from, to: (from += length) }));
    expect(await readTraceSummary(systemFs, pieces)).toMatchObject({ turnId: 't', resumes: 1 });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
