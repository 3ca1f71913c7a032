// Tests with real processes, because the tests send signals.
import { expect, test } from 'bun:test';
import { join } from 'node:path';

const file = JSON.stringify(join(import.meta.dir, 'with-interrupt.ts'));

const ints = "['SIGINT']";
const both = "['SIGINT', 'SIGTERM']";
const asks = `signal.addEventListener('abort', () => console.log('asked'));`;
/** What the work does at first, the other arguments, and the signals with the line that each one prints. */
test.each([
  ['the first Ctrl-C asks, the second quits', asks, ints, [['SIGINT', 'asked']]],
  [
    'before it quits, onQuit is called once',
    asks,
    `${both}, () => console.log('not cleaned up')`,
    [
      ['SIGTERM', 'asked'],
      ['SIGINT', 'not cleaned up'],
    ],
  ],
  [
    'a handler can take one Ctrl-C; the next one asks again',
    `${asks}
        takeInterrupt(() => console.log('replaced'));
        takeInterrupt(() => console.log('taken'));`,
    ints,
    [
      ['SIGINT', 'taken'],
      ['SIGINT', 'asked'],
    ],
  ],
  [
    'a handler that was given back gets nothing, and the newest one stays',
    `${asks}
        const giveBackFirst = takeInterrupt(() => console.log('first'));
        takeInterrupt(() => { console.log('taken'); takeInterrupt(() => console.log('late'))(); });
        giveBackFirst();`,
    ints,
    [
      ['SIGINT', 'taken'],
      ['SIGINT', 'asked'],
    ],
  ],
  [
    'a handler does not take SIGTERM',
    `${asks} takeInterrupt(() => console.log('taken'));`,
    both,
    [['SIGTERM', 'asked']],
  ],
] as const)('%s', async (_title, first, more, signals) => {
  const child = start(working(first, more));
  expect(await child.read()).toBe('working\n');
  for (const [signal, line] of signals) {
    child.kill(signal);
    expect(await child.read()).toBe(`${line}\n`);
  }
  child.kill('SIGINT');
  expect(await child.end()).toEqual({ exitCode: 130, signalCode: null });
});

test('the second waits for a promise that holds it, for a while', async () => {
  const program = (hold: string) => working(`holdQuit(${hold});`);
  const held = start(program(`Bun.sleep(300).then(() => console.log('written'))`));
  expect(await held.read()).toBe('working\n');
  held.kill('SIGINT');
  await Bun.sleep(50);
  held.kill('SIGINT');
  expect(await held.read()).toBe('written\n');
  expect(await held.end()).toEqual({ exitCode: 130, signalCode: null });

  // A promise that rejects does not delay quitting, and one that never settles delays it only for a while.
  for (const hold of [`Promise.reject(new Error('over'))`, `new Promise(() => {})`]) {
    const child = start(program(hold));
    expect(await child.read()).toBe('working\n');
    for (let count = 0; count < 2; count++) {
      child.kill('SIGINT');
      await Bun.sleep(50);
    }
    expect(await child.end()).toEqual({ exitCode: 130, signalCode: null });
  }
});

test('after the work, Ctrl-C ends the process as usual', async () => {
  const child = start(`console.log(await withInterrupt(async () => 'done'));`);
  expect(await child.read()).toBe('done\n');
  child.kill('SIGINT');
  expect(await child.end()).toEqual({ exitCode: null, signalCode: 'SIGINT' });
});

/** A program whose work begins with `first`, and never ends. */
function working(first: string, more = "['SIGINT']"): string {
  return `
    await withInterrupt((signal, holdQuit, takeInterrupt) => {
      ${first}
      console.log('working');
      return new Promise(() => {});
    }, ${more});`;
}

function start(source: string) {
  const program = `import { withInterrupt } from ${file}; setInterval(() => {}, 1_000); ${source}`;
  const child = Bun.spawn([process.execPath, '--eval', program], { stdout: 'pipe' });
  const reader = child.stdout.getReader();
  return {
    read: async () => new TextDecoder().decode((await reader.read()).value),
    kill: (signal: 'SIGINT' | 'SIGTERM') => child.kill(signal),
    end: async () => {
      await child.exited;
      const { exitCode, signalCode } = child;
      return { exitCode, signalCode };
    },
  };
}
