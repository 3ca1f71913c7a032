import { expect, test } from 'bun:test';
import { StoreAddress } from './address.ts';
import { ConnectionPool } from './connection-pool.ts';

test('a connection that was in use when another one left its host is closed, and a statement that waits gets a new one', async () => {
  // Nothing is connected before the first statement.
  const address = StoreAddress.parse('postgres://goondan@one,two/goondan');
  const reading = { readAddress: () => address, onUnread: () => undefined };
  const pool = new ConnectionPool({ ...reading, connections: 2, connectMs: 1 });
  const [late, used] = [await pool.take(1), await pool.take(1)];
  const waiting = pool.take(2_000);
  pool.leave(late);
  expect((await waiting).round).toBe(used.round + 1);
  expect(used.isClosed).toBe(false);
  pool.give(used);
  expect(used.isClosed).toBe(true);
  expect((await pool.take(1)).round).toBe(used.round + 1);
  await pool.close();
});
