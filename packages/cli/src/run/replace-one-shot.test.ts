import { expect, test } from 'bun:test';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { GoondanError } from '@goondan/types';
import { replaceOneShots } from './replace-one-shot.ts';

test('a start says once that the owner of the workspace does not answer, and Ctrl-C ends its wait', async () => {
  const place = { path: join(tmpdir(), `no-folder-${crypto.randomUUID()}`, 'socket') };
  const taken = () => Promise.reject(new GoondanError('E_SWARM_RUNNING', 'It runs.'));
  const abort = new AbortController();
  const said: string[] = [];
  const onWait = (why: string) => {
    said.push(why);
    setTimeout(() => abort.abort(), 200);
  };
  const error = await replaceOneShots(place, taken, onWait, abort.signal).catch((reason: unknown) => reason);
  expect(error).toMatchObject({ code: 'E_CANCELLED' });
  expect(said).toEqual(['Waits for the process that has the workspace and does not answer.']);
});
