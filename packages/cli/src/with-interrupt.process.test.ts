// Tests with real processes, because the tests send signals.
import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';

const file = JSON.stringify(join(import.meta.dir, 'with-interrupt.ts'));

describe('withInterrupt', () => {
  test('the first Ctrl-C asks, the second quits', async () => {
    const child = start(`
      await withInterrupt((signal) => {
        signal.addEventListener('abort', () => console.log('asked'));
        console.log('working');
        return new Promise(() => {});
      });`);
    expect(await child.read()).toBe('working\n');
    child.interrupt();
    expect(await child.read()).toBe('asked\n');
    child.interrupt();
    expect(await child.end()).toEqual({ exitCode: 130, signalCode: null });
  });

  test('before it quits, onQuit is called once', async () => {
    const child = start(`
      await withInterrupt((signal) => {
        signal.addEventListener('abort', () => console.log('asked'));
        console.log('working');
        return new Promise(() => {});
      }, ['SIGINT', 'SIGTERM'], () => console.log('not cleaned up'));`);
    expect(await child.read()).toBe('working\n');
    child.terminate();
    expect(await child.read()).toBe('asked\n');
    child.interrupt();
    expect(await child.read()).toBe('not cleaned up\n');
    expect(await child.end()).toEqual({ exitCode: 130, signalCode: null });
  });

  test('the second waits for a promise that holds it, for a while', async () => {
    const program = (hold: string) => `
      await withInterrupt((signal, holdQuit) => {
        holdQuit(${hold});
        console.log('working');
        return new Promise(() => {});
      });`;
    const held = start(program(`Bun.sleep(300).then(() => console.log('written'))`));
    expect(await held.read()).toBe('working\n');
    held.interrupt();
    await Bun.sleep(50);
    held.interrupt();
    expect(await held.read()).toBe('written\n');
    expect(await held.end()).toEqual({ exitCode: 130, signalCode: null });

    // A promise that rejects does not delay quitting, and one that never settles delays it only for a while.
    for (const hold of [`Promise.reject(new Error('over'))`, `new Promise(() => {})`]) {
      const child = start(program(hold));
      expect(await child.read()).toBe('working\n');
      for (let count = 0; count < 2; count++) {
        child.interrupt();
        await Bun.sleep(50);
      }
      expect(await child.end()).toEqual({ exitCode: 130, signalCode: null });
    }
  });

  test.each([
    ['can take one Ctrl-C; the next one asks again', `takeInterrupt(() => console.log('taken'));`],
    [
      'that was given back gets nothing, and the newest one stays',
      `takeInterrupt(() => { console.log('taken'); takeInterrupt(() => console.log('late'))(); }); giveBackFirst();`,
    ],
  ])('a handler %s', async (_, take) => {
    const child = start(`
      await withInterrupt((signal, holdQuit, takeInterrupt) => {
        signal.addEventListener('abort', () => console.log('asked'));
        const giveBackFirst = takeInterrupt(() => console.log('replaced'));
        ${take}
        console.log('working');
        return new Promise(() => {});
      });`);
    expect(await child.read()).toBe('working\n');
    child.interrupt();
    expect(await child.read()).toBe('taken\n');
    child.interrupt();
    expect(await child.read()).toBe('asked\n');
    child.interrupt();
    expect(await child.end()).toEqual({ exitCode: 130, signalCode: null });
  });

  test('a handler does not take SIGTERM', async () => {
    const child = start(`
      await withInterrupt((signal, holdQuit, takeInterrupt) => {
        signal.addEventListener('abort', () => { console.log('asked'); process.exit(0); });
        takeInterrupt(() => console.log('taken'));
        console.log('working');
        return new Promise(() => {});
      }, ['SIGINT', 'SIGTERM']);`);
    expect(await child.read()).toBe('working\n');
    child.terminate();
    expect(await child.read()).toBe('asked\n');
    expect(await child.end()).toEqual({ exitCode: 0, signalCode: null });
  });

  test('after the work, Ctrl-C ends the process as usual', async () => {
    const child = start(`console.log(await withInterrupt(async () => 'done'));`);
    expect(await child.read()).toBe('done\n');
    child.interrupt();
    expect(await child.end()).toEqual({ exitCode: null, signalCode: 'SIGINT' });
  });
});

function start(source: string) {
  const program = `import { withInterrupt } from ${file}; setInterval(() => {}, 1_000); ${source}`;
  const child = Bun.spawn([process.execPath, '--eval', program], { stdout: 'pipe' });
  const reader = child.stdout.getReader();
  return {
    read: async () => new TextDecoder().decode((await reader.read()).value),
    interrupt: () => child.kill('SIGINT'),
    terminate: () => child.kill('SIGTERM'),
    end: async () => {
      await child.exited;
      const { exitCode, signalCode } = child;
      return { exitCode, signalCode };
    },
  };
}
