import { expect, test } from 'bun:test';
import { Caller } from './caller.ts';
import { LONGEST_FRAME } from './kept-frames.ts';
import { until } from '../../../../../test/until.ts';

function open(answers: string[]) {
  const options: string[] = [];
  const written: string[] = [];
  const gone: string[] = [];
  const socket = {
    write: (bytes: Uint8Array) => written.push(Buffer.from(bytes).toString()) && bytes.length,
    terminate: () => void gone.push('terminated'),
  };
  const run = async (_: unknown, asked: object) => {
    options.push(...Object.keys(asked));
    return answers.shift() ?? '';
  };
  const server = { run, lastWords: () => ({ exit: '', lines: [] }) };
  // The cast is safe: only these two methods are used.
  const caller = new Caller(socket as unknown as Bun.Socket<unknown>, {
    server,
    onGone: (problem) => void gone.push(problem),
  });
  return { caller, written, gone, options };
}

test('L-02 N-04 a caller gets no questions, no progress and no events that it has not asked for', async () => {
  const { caller, written, options } = open(['done']);
  caller.frames.receive(Buffer.from('{"id":1,"method":"callTool","timeoutMs":1000}\n'));
  await until(() => written.length === 1);
  caller.tell('toolsChanged', { exit: '', lines: [] });
  expect([written.length, options]).toEqual([1, ['timeoutMs', 'signal']]);
});

test('L-02 an answer that is too long fails its own call, and the caller is not cut off', async () => {
  const { caller, written, gone } = open(['x'.repeat(LONGEST_FRAME), 'short']);
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
