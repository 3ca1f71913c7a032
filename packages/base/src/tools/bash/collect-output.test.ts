import { describe, expect, test } from 'bun:test';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { type CollectedOutput, OutputCollector } from './collect-output.ts';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';

const folder = temporaryFolder();
let files = 0;

async function collect(
  chunks: readonly Uint8Array[],
  shownBytes: number,
  spilledBytes = 1e6,
): Promise<CollectedOutput> {
  const newFile = () => join(folder, `${++files}.txt`);
  const collector = new OutputCollector({ shownBytes, spilledBytes, hidden: [], newFile });
  await collector.read(streamOf(chunks), new AbortController().signal);
  return collector.finish();
}

function streamOf(chunks: readonly Uint8Array[]): ReadableStream<Uint8Array> {
  return new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(chunk);
      controller.close();
    },
  });
}

describe('collected output', () => {
  test('is complete and in no file when it fits', async () => {
    const before = files;
    const text = 'é'.repeat(50);
    expect(await collect([Buffer.from(text)], 100)).toEqual({ text, bytes: 100 });
    expect(files).toBe(before);
  });

  test('is not cut inside a character, wherever the limit is', async () => {
    const bytes = Buffer.from('é한🙂'.repeat(300));
    for (let limit = 1_000; limit < 1_040; limit += 1) {
      const { text } = await collect([bytes.subarray(0, limit - 3), bytes.subarray(limit - 3)], limit);
      expect(text).not.toContain('\ufffd');
    }
  });

  test('is complete for any chunks: beginning, end, and everything in a private file', async () => {
    const chunk = fc.string({ unit: fc.constantFrom('a', 'b', 'c', '\n'), maxLength: 300 });
    await fc.assert(
      fc.asyncProperty(fc.array(chunk, { maxLength: 8 }), fc.integer({ min: 20, max: 400 }), async (chunks, limit) => {
        const whole = chunks.join('');
        const { text, bytes, file } = await collect(
          chunks.map((each) => Buffer.from(each)),
          limit,
        );
        expect(bytes).toBe(whole.length);
        if (whole.length <= limit) {
          expect({ text, file }).toEqual({ text: whole, file: undefined });
          return;
        }
        const half = Math.floor(limit / 2);
        expect(text).toStartWith(
          `${whole.slice(0, half)}\n[… ${whole.length - 2 * half} of ${whole.length} bytes left out`,
        );
        expect(text).toEndWith(` …]\n${whole.slice(-half)}`);
        expect(readFileSync(file ?? '', 'utf8')).toBe(whole);
        expect(statSync(file ?? '').mode & 0o777).toBe(0o600);
      }),
    );
  });

  test('over the limit of the file says how much is in it', async () => {
    const { text, file = '' } = await collect([Buffer.alloc(500, 'x'), Buffer.alloc(500, 'y')], 100, 600);
    expect(text).toContain(`[… 900 of 1000 bytes left out; the first 600 bytes are in ${file} …]`);
    expect(existsSync(file) && readFileSync(file, 'utf8')).toBe('x'.repeat(500) + 'y'.repeat(100));
  });
});
