import { expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { betweenSwarms } from './between-swarms.ts';

const PATIENCE_MS = 20;

/** Attempts an answer that comes at the second time. The first attempt takes longer than the patience. */
function attempt(reaches: boolean): Promise<string> {
  const lateThenAnswered = async (isAgain: boolean, onReached: () => void) => {
    if (isAgain) return 'answered';
    await Bun.sleep(2 * PATIENCE_MS);
    if (reaches) onReached();
    throw new GoondanError('E_SWARM_STOPPED', 'It stops.');
  };
  return betweenSwarms(lateThenAnswered, new AbortController().signal, PATIENCE_MS);
}

test('the time to find another swarm begins when the last one is gone', async () => {
  expect(await attempt(true)).toBe('answered');
  expect(await attempt(false).catch((error: unknown) => error)).toMatchObject({ code: 'E_SWARM_STOPPED' });
});

test('Ctrl-C between two swarms is a cancel, in the words of the last swarm', async () => {
  const abort = new AbortController();
  const stopped = async () => {
    abort.abort();
    throw new GoondanError('E_SWARM_STOPPED', 'It stops.');
  };
  const error = await betweenSwarms(stopped, abort.signal).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'E_CANCELLED', message: 'It stops.' });
});
