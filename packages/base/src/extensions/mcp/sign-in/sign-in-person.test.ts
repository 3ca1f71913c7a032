import { expect, test } from 'bun:test';
import { join } from 'node:path';
import { GuardedServer } from '../testing/guarded-server.ts';
import { ServerPlace } from '../testing/server-place.ts';
import { signInAsPerson } from '../testing/sign-in-as-person.ts';

test('N-01 a person is sent to no address that another program than a browser opens', async () => {
  using place = new ServerPlace();
  const server = new GuardedServer();
  server.become({ metadata: { authorization_endpoint: 'file:///bin/program' } });
  const shown: string[] = [];
  const here = { url: server.url, bundleFolder: place.folder, stateRoot: join(place.folder, 'state') };
  const show = async (address: string) => shown.push(address);
  const error: unknown = await signInAsPerson(here, show, AbortSignal.timeout(2_000)).catch(
    (thrown: unknown) => thrown,
  );
  await server.stop();
  expect([error, shown]).toMatchObject([{ code: 'E_MCP_SIGN_IN' }, []]);
  expect(String(error)).toContain('begins with file:, and not with https: or http:.');
});

test('N-01 the answer of a server without a sign-in is cleaned and cut in the error', async () => {
  using place = new ServerPlace();
  const server = Bun.serve({ port: 0, fetch: () => new Response(`\u202eno${'x'.repeat(9_000)}`, { status: 404 }) });
  const url = `http://127.0.0.1:${server.port}/mcp`;
  const here = { url, bundleFolder: place.folder, stateRoot: join(place.folder, 'state') };
  const error: unknown = await signInAsPerson(here).catch((thrown: unknown) => thrown);
  await server.stop();
  expect(error).toMatchObject({ code: 'E_MCP_SIGN_IN', message: expect.stringContaining('endpoint: noxxx') });
  expect(String(error).length).toBeLessThan(1_200);
});
