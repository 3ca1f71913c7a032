import { describe, expect, test } from 'bun:test';
import { systemClock } from '../../ports/clock.ts';
import type { ChildOutput } from '../../ipc/spawn.ts';
import { captureOutput, outputLimits } from './capture-output.ts';

const never = new AbortController().signal;

function streamOf(...chunks: string[]) {
  return new ReadableStream<Uint8Array<ArrayBuffer>>({
    pull(controller) {
      const chunk = chunks.shift();
      if (chunk === undefined) controller.close();
      else controller.enqueue(new Uint8Array(Buffer.from(chunk)));
    },
  });
}

function capture(limits = {}) {
  const heard: ChildOutput[] = [];
  const read = (stream: ChildOutput['stream'], chunks: ReturnType<typeof streamOf>, over: AbortSignal) =>
    captureOutput(stream, chunks, over, systemClock, (each) => heard.push(each), { ...outputLimits, ...limits });
  return { heard, output: { read } };
}

describe('the output of a child', () => {
  test('is reported line by line', async () => {
    const { heard, output } = capture();
    await Promise.all([
      output.read('stdout', streamOf('one\ntw', 'o\n'), never),
      output.read('stderr', streamOf('three'), never),
    ]);
    expect(heard).toContainEqual({ kind: 'line', stream: 'stdout', text: 'two' });
    expect(heard).toContainEqual({ kind: 'line', stream: 'stderr', text: 'three' });
    expect(heard).toHaveLength(3);
  });

  test('is dropped and counted above a number of lines per second', async () => {
    const { heard, output } = capture({ linesPerSecond: 2 });
    await output.read('stderr', streamOf('1\n2\n3\n', '4\n5\n', '6'), never);
    expect(heard).toEqual([
      { kind: 'line', stream: 'stderr', text: '1' },
      { kind: 'line', stream: 'stderr', text: '2' },
      { kind: 'dropped', stream: 'stderr', lines: 4 },
    ]);
  });

  // These wait for seconds, so they wait together.
  test.concurrent('is reported again in the next second, after the count', async () => {
    const { heard, output } = capture({ linesPerSecond: 1, bytesPerSecond: 4 });
    await output.read('stdout', streamOf('1\n2\n', '3\n4\n'), never);
    expect(heard).toEqual([
      { kind: 'line', stream: 'stdout', text: '1' },
      { kind: 'dropped', stream: 'stdout', lines: 1 },
      { kind: 'line', stream: 'stdout', text: '3' },
      { kind: 'dropped', stream: 'stdout', lines: 1 },
    ]);
  });

  test.concurrent('is read at a limited number of bytes per second', async () => {
    const { output } = capture({ bytesPerSecond: 1_000 });
    const startedAt = performance.now();
    await output.read('stdout', streamOf('x'.repeat(1_000), 'x'.repeat(10)), never);
    expect(performance.now() - startedAt).toBeGreaterThan(900);
  });

  test('may be given up, also during a pause', async () => {
    const { output } = capture({ bytesPerSecond: 1 });
    const over = new AbortController();
    const endless = new ReadableStream<Uint8Array<ArrayBuffer>>({
      pull: (controller) => controller.enqueue(new Uint8Array(100)),
    });
    const reading = output.read('stdout', endless, over.signal);
    await Bun.sleep(10);
    over.abort();
    await reading;
    const silent = new ReadableStream<Uint8Array<ArrayBuffer>>();
    await output.read('stdout', silent, AbortSignal.timeout(5));
  });
});
