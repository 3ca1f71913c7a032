import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemFs } from '../../ports/fs.ts';
import { readTraceLines } from './read-trace-file.ts';

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
