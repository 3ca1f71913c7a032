import { describe, expect, test } from 'bun:test';
import { Stopping } from './stopping.ts';

describe('endings', () => {
  test('run in the opposite order, each once, whatever the others do', async () => {
    const ended: string[] = [];
    const endings = new AsyncDisposableStack();
    endings.defer(() => void ended.push('first'));
    endings.defer(() => {
      ended.push('second');
      throw new Error('no');
    });
    endings.defer(async () => {
      await Bun.sleep(1);
      ended.push('third');
      throw new Error('no');
    });
    await endings.disposeAsync().catch(() => undefined);
    await endings.disposeAsync().catch(() => undefined);
    expect(ended).toEqual(['third', 'second', 'first']);
  });
});

describe('a stop', () => {
  test('happens once; a second call shortens its time', async () => {
    const graces: number[] = [];
    const stopping = new Stopping(async (graceMs, hurry) => {
      graces.push(graceMs);
      await new Promise((resolve) => hurry.addEventListener('abort', resolve));
    });
    const first = stopping.stop(10);
    expect(await Promise.race([first, Bun.sleep(2).then(() => 'goes on')])).toBe('goes on');
    await stopping.stop(20);
    await first;
    await stopping.stopped;
    expect(graces).toEqual([10]);
  });

  test('keeps its time when a handover joins it', async () => {
    const ending = Promise.withResolvers<void>();
    let hurried: AbortSignal | undefined;
    const stopping = new Stopping(async (_graceMs, hurry) => {
      hurried = hurry;
      await ending.promise;
    });
    const both = Promise.all([stopping.stop(10), stopping.stop(10, true)]);
    expect(hurried?.aborted).toBe(false);
    ending.resolve();
    await both;
  });

  test('is over even when it fails', async () => {
    const stopping = new Stopping(() => Promise.reject(new Error('no')));
    expect(await stopping.stop(1).catch(String)).toBe('Error: no');
    await stopping.stopped;
  });
});
