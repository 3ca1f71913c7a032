import { expect, test } from 'bun:test';
import { typedWatch } from '@goondan/runtime/internal';
import type { Swarm, SwarmNotice } from '@goondan/runtime';
import { showReloadProgress } from './show-reload-progress.ts';

const line = (message: string, event = 'swarm.reload_progress'): SwarmNotice => ({
  type: 'log',
  line: { time: '', level: 'debug', message, event },
});

/** Runs a reload that sends notices, waits until `lasts` settles, and returns what was printed. */
async function run(showsProgress: boolean, notices: readonly SwarmNotice[], isLong: boolean) {
  const printed: string[] = [];
  let [watches, ends] = [0, 0];
  let tell: (notice: SwarmNotice) => void = () => undefined;
  const swarm: Pick<Swarm, 'watch'> = {
    watch: typedWatch(async (_filter, listener) => {
      watches += 1;
      tell = listener;
      return { end: () => void (ends += 1), ended: Promise.resolve() };
    }),
  };
  const late = Promise.withResolvers<void>();
  const terminal = {
    showsProgress,
    printError: (text: string) => {
      printed.push(text);
      late.resolve();
    },
  };
  const value = await showReloadProgress(swarm, terminal, async () => {
    const [first, ...rest] = notices;
    if (first !== undefined) tell(first);
    if (isLong) await late.promise;
    for (const notice of rest) tell(notice);
    return 'done';
  });
  expect(value).toBe('done');
  expect(ends).toBe(watches);
  return printed;
}

test('a long reload shows a person the part on trial, and every later one', async () => {
  const notices = [line('Tries Agent/a …'), line('Tries Agent/b …'), line('other', 'process.exited')];
  expect(await run(true, notices, true)).toEqual(['Tries Agent/a …\n', 'Tries Agent/b …\n']);
});

test('a short reload, or one that nobody watches, shows nothing', async () => {
  expect(await run(true, [line('Tries Agent/a …')], false)).toEqual([]);
  expect(await run(false, [line('Tries Agent/a …')], false)).toEqual([]);
});
