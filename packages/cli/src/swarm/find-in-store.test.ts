import { afterAll, describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import type { ClusterAccess } from '../cluster/cluster-access.ts';
import type { OpenedStore } from '../cluster/open-store.ts';
import { GdnPlace } from '../testing/gdn-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { findInStore } from './find-in-store.ts';
import { notRunning } from './not-running.ts';

const place = new GdnPlace();
afterAll(() => place.remove());
const bundle = await place.write('bundle', { 'goondan.yaml': sampleBundle() });

/** A store with these swarms and nodes. The functions under test read nothing else. */
function storeWith(swarms: Readonly<Record<string, string>>, nodes: readonly string[] = []): ClusterAccess {
  const list = async () => Object.entries(swarms).map(([workspaceId, swarm]) => ({ workspaceId, swarm, instances: 1 }));
  const listNodes = async () =>
    nodes.map((name) => ({
      ...{ name, since: new Date(), version: '1', load: 0, instances: 0, isDraining: false },
      control: { address: `${name}:7444`, certificate: 'x' },
    }));
  const store = { swarms: { list }, nodes: listNodes } as unknown as OpenedStore;
  return {
    shown: 'postgres://db/gdn',
    secrets: { address: 'postgres://db/gdn', files: [] },
    place: 'db:5432/gdn',
    token: () => 'token',
    open: async () => store,
    openAny: async () => store,
    close: async () => undefined,
  };
}

async function refusal(work: Promise<unknown>): Promise<GoondanError> {
  const error: unknown = await work.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (GoondanError.is(error)) return error;
  throw new Error('It was not refused.');
}

describe('a swarm in a store', () => {
  test('S-08 is found by the bundle, also before it ran', async () => {
    expect(await findInStore(storeWith({}), { bundle })).toMatchObject({ swarm: 'default', workspaceId: 'default' });
  });

  test('S-08 is found by its name, and by that of its workspace, without a bundle', async () => {
    const store = storeWith({ shop: 'default', night: 'night' });
    expect(await findInStore(store, { swarm: 'shop' })).toMatchObject({ swarm: 'default', workspaceId: 'shop' });
    expect(await findInStore(store, { swarm: 'Swarm/night' })).toMatchObject({ workspaceId: 'night' });
    expect(await findInStore(store, { swarm: 'default' })).toMatchObject({ workspaceId: 'shop' });
    expect(await findInStore(store, { bundle, swarm: 'night' })).toMatchObject({ workspaceId: 'night' });
  });

  test('S-08 is the only one of the store', async () => {
    expect(await findInStore(storeWith({ shop: 'default' }), {})).toMatchObject({ workspaceId: 'shop' });
  });

  test('is refused when several are possible, or none', async () => {
    const several = await refusal(findInStore(storeWith({ one: 'default', two: 'default' }), {}));
    expect([several.code, several.message]).toEqual(['E_SWARM_UNKNOWN', 'The store has several swarms: one, two.']);
    const none = await refusal(findInStore(storeWith({}), {}));
    expect([none.code, none.message]).toEqual(['E_SWARM_UNKNOWN', 'The store postgres://db/gdn has no swarm yet.']);
    const other = await refusal(findInStore(storeWith({ one: 'x' }), { swarm: 'two' }));
    expect(other.message).toBe('The store has no swarm "two"; it has: one.');
    expect((await refusal(findInStore(storeWith({ one: 'x' }), { bundle: '/nowhere' }))).code).toBe('E_BUNDLE_MISSING');
  });

  test('that does not run says how to start it, or which nodes do not answer', async () => {
    const at = (cluster: ClusterAccess) => ({ cluster, workspaceId: 'shop', swarm: 'shop' });
    const stopped = await notRunning(at(storeWith({})), { bundle: 'b', store: '@s' });
    expect(stopped.message).toBe('No node of swarm "shop" is running.');
    expect(stopped.suggestion).toContain("run b --store '@s' --detach");
    const silent = await notRunning(at(storeWith({}, ['one', 'two'])), {});
    expect(silent.message).toBe('No node of swarm "shop" answers: one (one:7444), two (two:7444).');
    expect(silent.suggestion).toContain('--listen');
  });
});
