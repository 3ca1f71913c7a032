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
