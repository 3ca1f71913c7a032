import { afterEach, expect, test } from 'bun:test';
import { join } from 'node:path';
import { TOO_LONG } from './bounded-response.ts';
import { fetchSameOrigin } from './fetch-same-origin.ts';
import { openQuietClient } from './testing/quiet-client.ts';
import { ServerPlace } from './testing/server-place.ts';
import { signInAsPerson, targetOf } from './testing/sign-in-as-person.ts';

const servers: Bun.Server<undefined>[] = [];
const got: string[] = [];
afterEach(async () => {
  for (const server of servers.splice(0)) await server.stop(true);
  got.splice(0);
});

/** Starts a server whose paths redirect. */
function start(redirects: Readonly<Record<string, readonly [status: number, location: string]>> = {}): string {
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    async fetch(request) {
      const { pathname } = new URL(request.url);
      got.push(`${request.method} ${pathname} ${request.headers.get('x-key')} ${await request.text()}`);
      const [status, location] = redirects[pathname] ?? [];
      return location === undefined
        ? new Response('here')
        : new Response(null, { status: status ?? 0, headers: { location } });
    },
  });
  servers.push(server);
  return `http://127.0.0.1:${server.port}`;
}

const problemOf = (work: Promise<unknown>) => work.catch((error: unknown) => String(error));
const post = { method: 'POST', body: 'a call', headers: { 'x-key': 'secret' } };

test('N-01 headers and calls follow a redirect to another path of their server', async () => {
  const origin = start({ '/mcp': [307, '/mcp/'], '/mcp/': [308, '/v2'] });
  expect(await (await fetchSameOrigin(`${origin}/mcp`, post)).text()).toBe('here');
  expect(got).toEqual(['/mcp', '/mcp/', '/v2'].map((path) => `POST ${path} secret a call`));
});

test('N-01 headers and calls follow no redirect to another server, and the error names it', async () => {
  const other = start();
  const origin = start({ '/mcp': [307, `${other}/mcp?q=1`], '/file': [302, 'file:///etc/passwd'] });
  expect(await problemOf(fetchSameOrigin(`${origin}/mcp`, post))).toContain(`it redirects to ${other}/mcp.`);
  expect(await problemOf(fetchSameOrigin(`${origin}/file`))).toContain('it redirects to file:///etc/passwd.');
  expect(got).toEqual(['POST /mcp secret a call', 'GET /file null ']);
});

test('a redirect that would change the method, and one without an end, are refused', async () => {
  const origin = start({ '/seen': [303, '/other'], '/round': [307, '/round'] });
  expect(await problemOf(fetchSameOrigin(`${origin}/seen`, post))).toContain(`it redirects to ${origin}/other.`);
  expect(await problemOf(fetchSameOrigin(`${origin}/round`, post))).toContain(`it redirects to ${origin}/round.`);
  expect(got).toHaveLength(5);
});

test('N-01 no request of a client or of a sign-in follows a redirect to another server', async () => {
  using place = new ServerPlace();
  const other = start();
  const url = `${start({ '/mcp': [307, `${other}/other`] })}/mcp`;
  const here = { url, bundleFolder: place.folder, stateRoot: join(place.folder, 'state') };
  const connect = async (oauth: object) => {
    const client = await openQuietClient();
    const headers = { 'x-key': 'secret' };
    await client.connect({ type: 'http', url, headers, protocol: 'legacy', ...oauth }, { timeoutMs: 5_000 });
  };
  const { oauth } = await targetOf(here);
  for (const work of [() => connect({}), () => connect({ oauth }), () => signInAsPerson(here)])
    expect(await problemOf(work())).toContain(`it redirects to ${other}/other.`);
  expect(got.filter((each) => each.includes('/other'))).toEqual([]);
  expect(got.length).toBeGreaterThanOrEqual(3);
});

test('N-01 an answer that is too long is broken off', async () => {
  const server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => new Response(new Uint8Array(40_000_000)) });
  servers.push(server);
  expect(await problemOf((await fetchSameOrigin(server.url)).arrayBuffer())).toContain(TOO_LONG);
});
