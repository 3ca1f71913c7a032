import { expect, test } from 'bun:test';
import { Caller } from './caller.ts';
import { LONGEST_FRAME } from './kept-frames.ts';
import { until } from '../../../../../test/until.ts';

test('L-02 an answer that is too long fails its own call, and the caller is not cut off', async () => {
  const written: string[] = [];
  const gone: string[] = [];
  const socket = {
    write: (bytes: Uint8Array) => written.push(Buffer.from(bytes).toString()) && bytes.length,
    terminate: () => void gone.push('terminated'),
  };
  const answers = ['x'.repeat(LONGEST_FRAME), 'short'];
  const server = { run: async () => answers.shift() ?? '', lastWords: () => ({ exit: '', lines: [] }) };
  // The cast is safe: only these two methods are used.
  const caller = new Caller(socket as unknown as Bun.Socket<unknown>, {
    server,
    onGone: (problem) => void gone.push(problem),
  });
  for (const id of [1, 2]) {
    const request = JSON.stringify({ id, method: 'callTool', name: 'read', timeoutMs: 1_000 });
    caller.frames.receive(Buffer.from(`${request}\n`));
  }
  await until(() => written.length >= 2);
  const frames = written.map((line) => JSON.parse(line) as { id: number }).toSorted((a, b) => a.id - b.id);
  const message = expect.stringContaining(String(LONGEST_FRAME));
  expect(frames).toMatchObject([
    { id: 1, failed: { kind: 'refused', message } },
    { id: 2, value: 'short' },
  ]);
  expect(gone).toEqual([]);
});
