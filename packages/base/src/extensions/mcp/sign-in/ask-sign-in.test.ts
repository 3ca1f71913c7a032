import { expect, test } from 'bun:test';
import type { PersonApi, PersonReply, PersonRequest, ToolContext } from '@goondan/types';
import { GuardedServer } from '../testing/guarded-server.ts';
import { ServerPlace } from '../testing/server-place.ts';
import { signInAt, targetOf } from '../testing/sign-in-as-person.ts';
import { signInDuringCalls } from './ask-sign-in.ts';
import { SignInFile } from './sign-in-file.ts';
import { until } from '../../../../../../test/until.ts';

test('N-01 calls wait for one sign-in; if the call that asked is cancelled, another one asks', async () => {
  using place = new ServerPlace();
  await using server = new GuardedServer();
  const target = await targetOf(signInAt(place, server.url));
  const asked: string[] = [];
  const [one, other] = [new AbortController(), new AbortController()];
  const person = (name: string): PersonApi => ({
    async ask({ url = '' }) {
      asked.push(name);
      // The first person leaves the question open.
      if (name === 'second') await fetch(url);
      // A question ends with its call, and not because somebody declined.
      return new Promise((_, reject) => one.signal.addEventListener('abort', () => reject(new Error('It has ended.'))));
    },
  });
  const signIn = signInDuringCalls('server');
  const call = (name: string, signal: AbortSignal) =>
    // The cast is safe: only these fields are read.
    signIn('It has expired.', target, { person: person(name), signal } as ToolContext);
  const first = call('first', one.signal);
  const second = call('second', new AbortController().signal);
  const third = call('third', other.signal);
  await until(() => asked.length !== 0);
  // A call that only waits ends at once.
  other.abort(new Error('third is cancelled'));
  expect(third).rejects.toThrow('third is cancelled');
  one.abort(new Error('first is cancelled'));
  expect(first).rejects.toThrow('first is cancelled');
  expect(await second).toBe(true);
  expect(asked).toEqual(['first', 'second']);
});

/** Lets a person sign in during a call. `reply`: the answers of the person, one after the other. */
async function askedFor(reply: (times: number, url: string) => Promise<PersonReply>) {
  using place = new ServerPlace();
  await using server = new GuardedServer();
  const target = await targetOf(signInAt(place, server.url));
  const asked: PersonRequest[] = [];
  const person: PersonApi = { ask: (request) => reply(asked.push(request), request.url ?? '') };
  const { signal } = new AbortController();
  const pauses: { readonly ms: number; readonly signal: AbortSignal }[] = [];
  const signIn = signInDuringCalls('server', async (ms, over) => void pauses.push({ ms, signal: over }));
  // The cast is safe: only these fields are read.
  const signedIn = signIn('It has expired.', target, { person, signal } as ToolContext);
  const end = await signedIn.catch((error: unknown) => error);
  return { asked, end, pauses };
}

test('N-04 a person who says yes before the sign-in has arrived is asked again, and told how to finish', async () => {
  const { asked, end } = await askedFor(async (times, url) => {
    if (times === 1) return { outcome: 'answered' };
    await fetch(url);
    return new Promise(() => undefined);
  });
  expect(end).toBe(true);
  expect(asked.map(({ reason }) => reason)).toEqual([
    expect.stringMatching(/^It has expired\. Sign in on the page, .* `gdn mcp login server` .* goes on by itself\.$/),
    expect.stringContaining('Sign in there'),
  ]);
  expect(asked[1]).toMatchObject({
    url: asked[0]?.url ?? '',
    reason: expect.stringContaining('`gdn mcp login server`'),
  });
  expect(asked[1]?.signal?.aborted).toBe(true);
});

test('N-04 a program that always says yes is asked less and less often, and nobody waits after the sign-in', async () => {
  const { end, pauses } = await askedFor(async (times, url) => {
    if (times <= 6) return { outcome: 'answered' };
    await fetch(url);
    return new Promise(() => undefined);
  });
  expect(end).toBe(true);
  expect(pauses.map(({ ms }) => ms)).toEqual([1_000, 2_000, 4_000, 8_000, 8_000, 8_000]);
  expect(pauses.every(({ signal }) => signal.aborted)).toBe(true);
});

test('N-04 the reason of a person who declines to sign in is in the error', async () => {
  const declined = { outcome: 'declined', by: 'ann', note: 'not with my account' } as const;
  const { end } = await askedFor(async () => declined);
  expect(end).toMatchObject({
    code: 'E_MCP_SIGN_IN',
    message: 'It has expired. A person declined to sign in, and said: not with my account',
  });
  expect((await askedFor(async () => ({ outcome: 'declined' }))).end).toBe(false);
});

test('N-01 a call goes on only with tokens that are new and have the demanded scopes', async () => {
  using place = new ServerPlace();
  await using server = new GuardedServer();
  const target = await targetOf(signInAt(place, server.url));
  const file = new SignInFile(target.oauth.place);
  const store = (access_token: string, scope: string) =>
    file.lock(async () =>
      file.write({
        tokens: { access_token, scope, token_type: 'Bearer', issuer: server.origin },
        demand: { scope: 'read write' },
      }),
    );
  await store('old', 'read write');
  const asked = Promise.withResolvers<void>();
  const ask = () => {
    asked.resolve();
    return new Promise<never>(() => undefined);
  };
  const context = { person: { ask }, signal: new AbortController().signal };
  // The cast is safe: only these fields are read.
  const signedIn = signInDuringCalls('server')('It has expired.', target, context as unknown as ToolContext);
  const state = (waitMs: number) => Promise.race([signedIn, Bun.sleep(waitMs).then(() => 'waits')]);
  await asked.promise;
  expect(await state(10)).toBe('waits');
  await store('new', 'read');
  expect(await state(700)).toBe('waits');
  await store('newer', 'write read');
  expect(await signedIn).toBe(true);
});

test('N-01 nobody is asked to sign in for a client with credentials of its own', async () => {
  using place = new ServerPlace();
  const oauth = { clientId: 'robot', clientSecret: '${ROBOT}', grant: 'client_credentials' } as const;
  const environment = { ROBOT: 'a secret' };
  const target = await targetOf(signInAt(place, 'http://127.0.0.1:1/mcp', { oauth, environment }));
  const person: PersonApi = { ask: () => Promise.reject(new Error('Somebody was asked.')) };
  const { signal } = new AbortController();
  // The cast is safe: only these fields are read.
  expect(await signInDuringCalls('server')('It has expired.', target, { person, signal } as ToolContext)).toBe(false);
});
