import { expect, test } from 'bun:test';
import { showCopyProgress } from './show-copy-progress.ts';

function shown(showsProgress: boolean, times: readonly number[]): string[] {
  const printed: string[] = [];
  let now = 0;
  const listener = showCopyProgress({ showsProgress, printError: (text) => void printed.push(text) }, () => now);
  for (const [index, time] of times.entries()) {
    now = time;
    listener({ files: index + 1, bytes: time });
  }
  return printed;
}

test('progress is shown once a second, and not for work that takes less', () => {
  expect(shown(true, [10, 900])).toEqual([]);
  expect(shown(true, [900, 1000, 1500, 1999, 2300])).toEqual([
    'Copied 2 files, 1000 bytes.\n',
    'Copied 5 files, 2300 bytes.\n',
  ]);
});

test('nothing is shown if nobody watches', () => {
  expect(shown(false, [1000, 2000])).toEqual([]);
});
