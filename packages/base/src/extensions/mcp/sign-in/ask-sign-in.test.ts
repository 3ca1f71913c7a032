import { expect, test } from 'bun:test';
import { join } from 'node:path';
import type { PersonApi, ToolContext } from '@goondan/types';
import { GuardedServer } from '../testing/guarded-server.ts';
import { ServerPlace } from '../testing/server-place.ts';
import { targetOf } from '../testing/sign-in-as-person.ts';
import { signInDuringCalls } from './ask-sign-in.ts';

test('N-01 calls wait for one sign-in; if the call that asked is cancelled, another one asks', async () => {
  using place = new ServerPlace();
  const server = new GuardedServer();
  const stateRoot = join(place.folder, 'state');
  const target = await targetOf({ url: server.url, bundleFolder: place.folder, stateRoot });
  const asked: string[] = [];
  const person = (name: string): PersonApi => ({
    async ask({ url = '' }) {
      asked.push(name);
      // The first person leaves the question open.
      if (name === 'second') await fetch(url);
      return new Promise(() => undefined);
    },
  });
  const signIn = signInDuringCalls('server');
  const call = (name: string, signal: AbortSignal) =>
    // The cast is safe: only these fields are read.
    signIn('It has expired.', target, { person: person(name), signal } as ToolContext);
  const [one, other] = [new AbortController(), new AbortController()];
  const first = call('first', one.signal);
  const second = call('second', new AbortController().signal);
  const third = call('third', other.signal);
  while (asked.length === 0) await Bun.sleep(1);
  // A call that only waits ends at once.
  other.abort(new Error('third is cancelled'));
  expect(third).rejects.toThrow('third is cancelled');
  one.abort(new Error('first is cancelled'));
  expect(first).rejects.toThrow('first is cancelled');
  expect(await second).toBe(true);
  expect(asked).toEqual(['first', 'second']);
  await server.stop();
});
