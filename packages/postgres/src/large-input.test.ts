import { afterAll, afterEach, beforeAll, expect, test } from './testing/with-postgres.ts';
import { sampleStep } from '../../../test/samples.ts';
import type { ClusterStore } from '@goondan/runtime/history';
import type { AgentAddress } from '@goondan/types';
import { fakeEvent } from '../../runtime/src/testing/fake-swarm.ts';
import { postgresSource } from './cluster-source.ts';
import { StoreAddress } from './driver/address.ts';
import { type CuttingProxy, startCuttingProxy } from './testing/cutting-proxy.ts';
import { makeTestDatabase, type TestDatabase } from './testing/test-database.ts';

const MEGABYTE = 1024 * 1024;
/** `npm run proof` sends 20 MiB. A smaller input over a slower connection takes as long, and costs less. */
const MEGABYTES = sampleStep === 1 ? 20 : 5;
const address: AgentAddress = { agentName: 'coder', instanceKey: 'default' };
const other: AgentAddress = { agentName: 'coder', instanceKey: 'other' };

let made: TestDatabase;
let proxy: CuttingProxy;
beforeAll(async () => {
  made = await makeTestDatabase();
  proxy = await startCuttingProxy(StoreAddress.parse(made.address).hosts[0]?.port ?? 0);
});
afterEach(() => proxy.heal());
afterAll(async () => {
  await proxy.close();
  await made.drop();
});

/** A node whose statements are too late after 200 ms. */
async function joinSlowly(): Promise<ClusterStore> {
  const { database } = StoreAddress.parse(made.address);
  const slow = `postgres://postgres@127.0.0.1:${proxy.port}/${database}`;
  const source = postgresSource({ address: slow, swarm: 'large', leaseMs: 4000, statementMs: 200 });
  return source.join({ name: 'one', start: 'start of one', version: '0.1.0' });
}

const eventOf = (id: string, input: string) => fakeEvent(input, { id });

test(`S-02 an input of ${MEGABYTES} MiB over a slow connection is accepted once, and costs neither the lease nor other input`, async () => {
  const store = await joinSlowly();
  const losses: unknown[] = [];
  store.placement.onLost((error) => void losses.push(error));
  await store.placement.claim(address);
  proxy.slow(3 * MEGABYTES * MEGABYTE);
  const input = 'x'.repeat(MEGABYTES * MEGABYTE);
  const large = store.inbox.accept(address, eventOf('large', input));
  const small = Array.from({ length: 20 }, (_, number) => store.inbox.accept(other, eventOf(`small ${number}`, 'y')));
  expect((await Promise.all(small)).every(({ duplicate }) => !duplicate)).toBe(true);
  expect(await large).toEqual({ accepted: true, duplicate: false, seq: 1 });
  expect((await store.inbox.pendingEntries(address)).map(({ event }) => event.input)).toEqual([input]);
  const line = JSON.stringify({ text: input });
  const { epoch } = await store.log.load(address);
  await store.log.append(address, epoch, { seq: 1, last: 1, line, isDurable: true });
  expect((await store.log.load(address)).frames).toEqual([line]);
  store.placement.check(address);
  expect(losses).toEqual([]);
  await store.close();
}, 60_000);
