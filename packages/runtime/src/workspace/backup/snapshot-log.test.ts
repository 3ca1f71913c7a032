import { expect, test } from 'bun:test';
import type { Fs } from '../../ports/fs.ts';
import { systemFs } from '../../ports/fs.ts';
import { snapshotLog } from './snapshot-log.ts';

/** Returns the snapshot of a file whose reads return these texts, one after the other. A `_` is a zero. */
async function snapshot(...reads: readonly (string | undefined)[]): Promise<string | undefined> {
  const left = [...reads];
  const read: Fs['read'] = async () => {
    const text = left.shift();
    return text === undefined ? undefined : Buffer.from(text.replaceAll('_', '\0'));
  };
  const bytes = await snapshotLog({ ...systemFs, read }, 'events.jsonl');
  return bytes && new TextDecoder().decode(bytes).replaceAll('\0', '_');
}

test('a log that nobody writes keeps its lines and gets a zero behind them', async () => {
  expect(await snapshot('one\ntwo\n____', 'one\ntwo\n____')).toBe('one\ntwo\n_');
  expect(await snapshot('____', '____')).toBe('_');
});

test('a line that was written between the reads is not torn', async () => {
  expect(await snapshot('one\ntw____', 'one\ntwo\n__')).toBe('one\ntwo\n_');
  expect(await snapshot('one\ntwo_____', 'one\ntwo\n____')).toBe('one\ntwo\n_');
});

test('a read that was too early for one line, but saw the next one, is corrected', async () => {
  expect(await snapshot('one\n____three\n__', 'one\ntwo\nthree\n__')).toBe('one\ntwo\nthree\n_');
});

test('a line whose write goes on stays torn, as a reader expects it', async () => {
  expect(await snapshot('one\ntw____', 'one\ntw____')).toBe('one\ntw_');
});

test('a log that grew after the first read has room', async () => {
  expect(await snapshot('one\ntwo', 'one\ntwo\nthree\n________')).toBe('one\ntwo\n_');
});

test('a log that was cut off or closed, or has zeros inside, stays as it is', async () => {
  expect(await snapshot('one\ntwo\n', 'one\ntwo\n')).toBe('one\ntwo\n');
  expect(await snapshot('one\ntwo\n ', 'one\ntwo\n ')).toBe('one\ntwo\n ');
  expect(await snapshot('one\n__o\n____', 'one\n__o\n____')).toBe('one\n__o\n____');
  expect(await snapshot('', '')).toBe('');
});

test('a changed byte at the end of the last line stays', async () => {
  expect(await snapshot('one\ntwoX____', 'one\ntwoX____')).toBe('one\ntwoX_');
});

test('a log that does not exist, or is removed, has no snapshot', async () => {
  expect(await snapshot(undefined)).toBeUndefined();
  expect(await snapshot('one\n__', undefined)).toBeUndefined();
});
