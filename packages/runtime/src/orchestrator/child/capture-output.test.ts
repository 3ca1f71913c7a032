import { describe, expect, test } from 'bun:test';
import { systemClock } from '../../ports/clock.ts';
import type { ChildOutput } from '../../ipc/spawn.ts';
import { OutputCapture, outputLimits } from './capture-output.ts';

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
  const output = new OutputCapture(systemClock, (each) => heard.push(each), { ...outputLimits, ...limits });
  return { heard, output };
}

describe('the output of a child', () => {
  test('is reported line by line, and kept', async () => {
    const { heard, output } = capture();
    await Promise.all([
      output.read('stdout', streamOf('one\ntw', 'o\n'), never),
      output.read('stderr', streamOf('three'), never),
    ]);
    expect(heard).toContainEqual({ kind: 'line', stream: 'stdout', text: 'two' });
    expect(heard).toContainEqual({ kind: 'line', stream: 'stderr', text: 'three' });
    expect(heard).toHaveLength(3);
    expect(output.recent()).toEqual(heard);
  });

  test('is kept up to a limit', async () => {
    const { heard, output } = capture({ mostKept: 3, mostKeptCharacters: 10 });
    await output.read('stdout', streamOf('1\n2\n3\n4\n'), never);
    expect(output.recent()).toEqual(heard.slice(-3));
    await output.read('stdout', streamOf('123456789\n'), never);
    expect(output.recent().map((each) => each.kind === 'line' && each.text)).toEqual(['4', '123456789']);
    await output.read('stdout', streamOf('12345678901\n'), never);
    expect(output.recent()).toEqual([]);
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

  test('is reported again in the next second, after the count', async () => {
    const { heard, output } = capture({ linesPerSecond: 1, bytesPerSecond: 4 });
    await output.read('stdout', streamOf('1\n2\n', '3\n4\n'), never);
    expect(heard).toEqual([
      { kind: 'line', stream: 'stdout', text: '1' },
      { kind: 'dropped', stream: 'stdout', lines: 1 },
      { kind: 'line', stream: 'stdout', text: '3' },
      { kind: 'dropped', stream: 'stdout', lines: 1 },
    ]);
  });

  test('is read at a limited number of bytes per second', async () => {
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
