import { afterEach, beforeEach, describe, expect, test } from './testing/with-postgres.ts';
import type { ClusterStore } from '@goondan/runtime/history';
import type { AgentAddress, GoondanError } from '@goondan/types';
import { fakeEvent } from '../../runtime/src/testing/fake-swarm.ts';
import { postgresSource } from './cluster-source.ts';
import { readStatus } from './nodes/store-status.ts';
import { openTestDatabase } from './testing/test-database.ts';
import { until } from '../../../test/until.ts';

const damaged: AgentAddress = { agentName: 'coder', instanceKey: 'damaged' };
const other: AgentAddress = { agentName: 'coder', instanceKey: 'other' };

const { address, database } = await openTestDatabase();
let store: ClusterStore;
let swarms = 0;
let swarm: string;
beforeEach(async () => {
  swarm = `swarm ${++swarms}`;
  store = await join('one');
  for (const instance of [damaged, other]) {
    await store.placement.claim(instance);
    const { epoch } = await store.log.load(instance);
    for (const seq of [1, 2, 3]) await store.log.append(instance, epoch, frame(seq));
  }
});
afterEach(() => store.close());

function join(name: string): Promise<ClusterStore> {
  const source = postgresSource({ address, swarm, leaseMs: 60_000, scanMs: 20 });
  return source.join({ name, start: `start of ${name}`, version: '0.1.0' });
}

const frame = (seq: number) => ({ seq, last: seq, line: `line ${seq}`, isDurable: true });

const eventOf = (id: string) => fakeEvent('x', { id });

/** Changes rows of the damaged instance. */
const change = (statement: string) =>
  database.query(`${statement} where swarm = $1 and agent = 'coder' and key = 'damaged'`, [swarm]);

const errorOf = (action: Promise<unknown>) =>
  action.then(
    () => undefined,
    // Safe: every error of a store is one.
    (error: unknown) => error as GoondanError,
  );

/** The lines of `gdn store status` about rows that were changed. */
async function reported(): Promise<readonly string[]> {
  const { warnings } = await readStatus(database);
  return warnings.filter((warning) => warning.includes(`swarm "${swarm}"`));
}

describe('rows that were changed by hand', () => {
  test.each([
    ['update gdn_instance set last_seq = last_seq + 3', 'end at 3, and last_seq in gdn_instance is 6'],
    ['delete from gdn_frame', 'end at 0, and last_seq in gdn_instance is 3'],
  ])('%s: the log of this conversation is damaged, and names the table', async (statement, problem) => {
    expect(await reported()).toEqual([]);
    await change(statement);
    const error = await errorOf(store.log.load(damaged));
    expect([error?.code, error?.message]).toEqual([
      'E_STORE_CORRUPT',
      `The rows of agent coder, instance "damaged" in table gdn_frame are damaged: its frames ${problem}`,
    ]);
    expect(error?.suggestion).toContain('backup of the database');
    expect(await reported()).toEqual([expect.stringContaining(problem)]);
    const { epoch, frames } = await store.log.load(other);
    expect(frames).toHaveLength(3);
    await store.log.append(other, epoch, frame(4));
  });

  test('the last frame is missing', async () => {
    await database.query(`delete from gdn_frame where swarm = $1 and key = 'damaged' and seq = 3`, [swarm]);
    expect(await errorOf(store.log.load(damaged))).toMatchObject({ code: 'E_STORE_CORRUPT' });
    // It can be given up.
    await store.admin.delete(damaged, { force: true });
    expect(await reported()).toEqual([]);
  });

  test('input that is not JSON: the inbox of this conversation is damaged, and others go on', async () => {
    await store.inbox.accept(damaged, eventOf('e1'));
    await store.inbox.accept(other, eventOf('e1'));
    for (const text of ["'{no json'", 'null', "'7'"]) {
      await change(`update gdn_inbox set event = ${text}`);
      for (const reader of [() => store.inbox.pendingEntries(damaged), () => store.history.pending(damaged)]) {
        const error = await errorOf(reader());
        expect([error?.code, error?.message]).toEqual([
          'E_STORE_CORRUPT',
          'The rows of agent coder, instance "damaged" in table gdn_inbox are damaged: the event with seq 1 is not JSON',
        ]);
      }
      expect(await reported()).toEqual([expect.stringContaining('the event with seq 1 in gdn_inbox is not JSON')]);
    }
    expect(await store.inbox.pendingEntries(other)).toHaveLength(1);
  });

  test('an owner without a row in gdn_node is replaced, by input and by a node that joins', async () => {
    await store.placement.release(damaged);
    await change(`update gdn_instance set owner = 'gone'`);
    expect(await reported()).toEqual([expect.stringContaining('its owner gone has no row in gdn_node')]);
    const woken: string[] = [];
    store.inbox.onWake(({ instanceKey }) => void woken.push(instanceKey));
    await store.inbox.accept(damaged, eventOf('e1'));
    await until(() => woken.includes('damaged'));
    expect(await reported()).toEqual([]);
    await store.placement.release(other);
    await database.query(`update gdn_instance set owner = 'gone' where swarm = $1 and key = 'other'`, [swarm]);
    await database.query(`insert into gdn_connection (swarm, connection, owner) values ($1, 'clock', 'gone')`, [swarm]);
    const two = await join('two');
    expect(await two.placement.claim(other)).toBe(true);
    expect(await two.connections.claim('clock')).toBeTruthy();
    expect(await store.placement.claim(damaged)).toBe(true);
    await two.close();
  });
});
