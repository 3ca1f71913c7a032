import { expect, test } from 'bun:test';
import { GuardedServer } from '../testing/guarded-server.ts';
import { ServerPlace } from '../testing/server-place.ts';
import { signInAsPerson, signInAt, targetOf } from '../testing/sign-in-as-person.ts';
import { SignInFile } from './sign-in-file.ts';
import { checkAddress } from './sign-in-person.ts';
import { until } from '../../../../../../test/until.ts';

test.each([
  ['that another program than a browser opens', 'file:///bin/program', 'begins with file://'],
  ['of another machine without TLS', 'http://login.example/page', 'begins with http://login.example'],
])('N-01 a person is sent to no address %s', async (_, endpoint, problem) => {
  using place = new ServerPlace();
  await using server = new GuardedServer();
  server.become({ metadata: { authorization_endpoint: endpoint } });
  const shown: string[] = [];
  const here = signInAt(place, server.url);
  const show = async (address: string) => shown.push(address);
  const error: unknown = await signInAsPerson(here, show, AbortSignal.timeout(20_000)).catch(
    (thrown: unknown) => thrown,
  );
  expect([error, shown]).toMatchObject([{ code: 'E_MCP_SIGN_IN' }, []]);
  expect(String(error)).toContain(`${problem}, and not with https:.`);
});

test('N-01 the answer of a server without a sign-in is cleaned and cut in the error', async () => {
  using place = new ServerPlace();
  const server = Bun.serve({ port: 0, fetch: () => new Response(`\u202eno${'x'.repeat(9_000)}`, { status: 404 }) });
  const here = signInAt(place, `http://127.0.0.1:${server.port}/mcp`);
  const error: unknown = await signInAsPerson(here).catch((thrown: unknown) => thrown);
  await server.stop();
  expect(error).toMatchObject({ code: 'E_MCP_SIGN_IN', message: expect.stringContaining('endpoint: noxxx') });
  expect(String(error).length).toBeLessThan(1_200);
});

test('N-01 an error of the redirect that repeats the secret of the client does not show it', async () => {
  using place = new ServerPlace();
  await using server = new GuardedServer();
  const oauth = { clientId: 'us', clientSecret: '${OURS}' };
  const here = signInAt(place, server.url, { oauth, environment: { OURS: 'a secret of ours' } });
  const refuse = (address: string) => {
    const { searchParams } = new URL(address);
    const redirect = new URL(searchParams.get('redirect_uri') ?? '');
    redirect.searchParams.set('state', searchParams.get('state') ?? '');
    redirect.searchParams.set('iss', server.origin);
    redirect.searchParams.set('error', 'access_denied');
    redirect.searchParams.set('error_description', 'not with a secret of ours');
    return fetch(redirect);
  };
  const error: unknown = await signInAsPerson(here, refuse).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'E_MCP_SIGN_IN', message: expect.stringContaining('not with ***') });
  expect(String(error)).not.toContain('a secret of ours');
});

test('N-01 a server with TLS sends nobody to a page without TLS', () => {
  const page = (address: string) => () => checkAddress('https://a.example/mcp', new URL(address));
  expect(page('http://a.example/authorize')).toThrow('begins with http://a.example, and not with https:');
  expect(page('https://login.example/authorize')).not.toThrow();
});

test('N-01 a login is stored only when no agent refreshes the tokens', async () => {
  using place = new ServerPlace();
  await using server = new GuardedServer();
  const here = signInAt(place, server.url);
  const file = new SignInFile((await targetOf(here)).oauth.place);
  const refreshed = Promise.withResolvers<void>();
  const agent = file.lock(() => refreshed.promise);
  const login = signInAsPerson(here);
  await until(() => server.count('authorization_code') !== 0);
  const done = login.then(() => 'stored');
  expect(await Promise.race([done, Bun.sleep(50).then(() => 'waits')])).toBe('waits');
  expect(file.read()).toEqual({});
  refreshed.resolve();
  await agent;
  expect(await done).toBe('stored');
  expect(file.read().tokens).toBeDefined();
});
