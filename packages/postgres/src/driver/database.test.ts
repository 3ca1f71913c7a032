import { afterAll, afterEach, beforeAll, describe, expect, test } from '../testing/with-postgres.ts';
import { createConnection, createServer } from 'node:net';
import { codeOf } from '../testing/code-of.ts';
import { startCuttingProxy } from '../testing/cutting-proxy.ts';
import { makeTestDatabase } from '../testing/test-database.ts';
import { StoreAddress } from './address.ts';
import { openDatabase } from './database.ts';
import { repeating } from './repeat.ts';
import { until } from '../../../../test/until.ts';

const made = await makeTestDatabase({ hasTables: false });
const direct = openDatabase(made.address, { connections: 2 });
const { hosts, database: name } = StoreAddress.parse(made.address);
const proxy = await startCuttingProxy(hosts[0]?.port ?? 0);
const proxied = `postgres://postgres@127.0.0.1:${proxy.port}/${name}`;

beforeAll(async () => {
  await direct.query('create table counted (number int)');
});
afterEach(() => {
  proxy.cutWhen(undefined);
  proxy.heal();
});
afterAll(async () => {
  await proxy.close();
  await direct.close();
  await made.drop();
});

async function counted(): Promise<number> {
  const [row] = await direct.query<{ count: number }>('select count(*) as count from counted');
  return row?.count ?? -1;
}

describe('a connection that is cut', () => {
  test.each([
    ['before', 0],
    ['after', 1],
  ] as const)('%s the statement ran: the store is away, and the next statement works', async (when, happened) => {
    const database = openDatabase(proxied, { connections: 1 });
    await database.query('select 1');
    const before = await counted();
    const first = proxy.statements + 1;
    proxy.cutWhen((statement) => (statement === first ? when : undefined));
    // A statement without values is sent as one message; with values it is prepared first.
    expect(await codeOf(database.query('insert into counted values (1)'))).toBe('E_STORE_AWAY');
    expect((await counted()) - before).toBe(happened);
    proxy.cutWhen(undefined);
    expect([...(await database.query('select 1 as one'))]).toEqual([{ one: 1 }]);
    await database.close();
  });

  test('a repeated statement goes through as soon as the store is back, and ends when it may not be repeated', async () => {
    const database = openDatabase(proxied, { connections: 1, connectMs: 200 });
    proxy.partition();
    let left = 3;
    expect(await codeOf(repeating(database, () => left-- > 0)('select 1'))).toBe('E_STORE_AWAY');
    expect(left).toBe(-1);
    const query = repeating(database, () => {
      proxy.heal();
      return true;
    });
    expect([...(await query('select 2 as two'))]).toEqual([{ two: 2 }]);
    await database.close();
  });

  test('a server that hangs is away, and the next statement gets another connection', async () => {
    const database = openDatabase(proxied, { connections: 1, statementMs: 200 });
    await database.query('select 1');
    proxy.freeze();
    expect(await codeOf(database.query('select 1'))).toBe('E_STORE_AWAY');
    proxy.heal();
    expect([...(await database.query('select 3 as three'))]).toEqual([{ three: 3 }]);
    await database.close();
  });

  test('a listener hears again after its connection was cut', async () => {
    const database = openDatabase(proxied, { connections: 1 });
    const heard: string[] = [];
    const listening = await database.listen('channel', (payload) => void heard.push(payload));
    await direct.query(`select pg_notify('channel', 'first')`);
    await until(() => heard.length === 1);
    proxy.partition();
    proxy.heal();
    await until(async () => {
      await direct.query(`select pg_notify('channel', 'second')`);
      return heard.includes('second');
    });
    await listening.end();
    await database.close();
  });
});

describe('a statement that is too late', () => {
  test('ends nothing but its own connection', async () => {
    const database = openDatabase(made.address, { connections: 2, statementMs: 200 });
    await direct.query('select pg_advisory_lock(1)');
    const patience = { times: 1000, mayWait: () => true };
    const waiting = database.query<{ got: number }>('select 1 as got from pg_advisory_lock_shared(1)', [], patience);
    expect(await codeOf(database.query('select pg_sleep(60)'))).toBe('E_STORE_AWAY');
    await direct.query('select pg_advisory_unlock_all()');
    expect([...(await waiting)]).toEqual([{ got: 1 }]);
    await database.close();
  });

  test('keeps no other statement waiting, as long as a connection is free', async () => {
    const database = openDatabase(made.address, { connections: 2, statementMs: 2000 });
    const slow = database.query('select pg_sleep(1)');
    const quick = Array.from({ length: 20 }, () => database.query('select 1'));
    const first = await Promise.race([slow.then(() => 'slow'), Promise.all(quick).then(() => 'quick')]);
    expect(first).toBe('quick');
    await slow;
    await database.close();
  });

  test('is away when no connection is free in time', async () => {
    const database = openDatabase(made.address, { connections: 1, statementMs: 100 });
    const slow = database.query('select pg_sleep(0.5)', [], { times: 100, mayWait: () => true });
    expect(await codeOf(database.query('select 1'))).toBe('E_STORE_AWAY');
    await slow;
    expect([...(await database.query('select 1 as one'))]).toEqual([{ one: 1 }]);
    await database.close();
  });

  test('gets twice the time with each repetition, and no more time when it may not be repeated', async () => {
    const database = openDatabase(proxied, { connections: 1, statementMs: 100 });
    await database.query('select 1');
    const before = proxy.statements;
    let left = 20;
    await repeating(database, () => left-- > 0)('select pg_sleep(0.5)');
    // 100, 200, 400 and 800 ms.
    expect(proxy.statements - before).toBeLessThanOrEqual(5);
    expect(left).toBeGreaterThan(0);
    let asked = 0;
    const given = database.query('select pg_sleep(60)', [], { times: 1000, mayWait: () => (asked += 1) < 3 });
    expect(await codeOf(given)).toBe('E_STORE_AWAY');
    expect(asked).toBe(3);
    await database.close();
  });
});

describe('a statement that was abandoned', () => {
  test('ends at the server, too', async () => {
    const database = openDatabase(made.address, { connections: 1, statementMs: 200, mostTimes: 2 });
    expect(await codeOf(database.query('select pg_sleep(60) as abandoned'))).toBe('E_STORE_AWAY');
    const running = () =>
      direct.query(
        `select 1 from pg_stat_activity where state = 'active' and query = 'select pg_sleep(60) as abandoned'`,
      );
    await until(async () => (await running()).length === 0);
    await database.close();
  });

  test('has the time of a patient one', async () => {
    const database = openDatabase(made.address, { connections: 1, statementMs: 100 });
    const patience = { times: 16, mayWait: () => true };
    expect(await codeOf(database.query('select pg_sleep(0.8)', [], patience))).toBeUndefined();
    await database.close();
  });
});

test('a connection says whose it is', async () => {
  const database = openDatabase(made.address, { connections: 1, name: 'gdn logs' });
  const [row] = await database.query<{ name: string }>(`select current_setting('application_name') as name`);
  expect(row?.name).toBe('goondan gdn logs');
  await database.close();
});

/** A pooler as PgBouncer in session mode: it refuses a connect with a setting that it does not know. */
async function startPooler(serverPort: number) {
  let refused = 0;
  const listener = createServer((client) => {
    client.on('error', () => undefined);
    client.once('data', (startup: Buffer) => {
      if (startup.includes('statement_timeout')) {
        refused += 1;
        const fields = Buffer.from('SFATAL\0C08P01\0Munsupported startup parameter: statement_timeout\0\0');
        const head = Buffer.from('E....');
        head.writeUInt32BE(fields.length + 4, 1);
        return void client.end(Buffer.concat([head, fields]));
      }
      const server = createConnection({ port: serverPort, host: '127.0.0.1' });
      server.on('error', () => client.destroy());
      server.write(startup);
      client.pipe(server).pipe(client);
    });
  });
  await new Promise<void>((resolve) => void listener.listen(0, '127.0.0.1', resolve));
  const at = listener.address();
  return {
    address: `postgres://postgres@127.0.0.1:${typeof at === 'object' ? at?.port : 0}/${name}`,
    refused: () => refused,
    [Symbol.dispose]: () => void listener.close(),
  };
}

test('a pooler that refuses the time of statements gets connections without it, and nobody is told of a problem', async () => {
  using pooler = await startPooler(hosts[0]?.port ?? 0);
  const problems: string[] = [];
  const database = openDatabase(pooler.address, { connections: 2, onProblem: (each) => void problems.push(each) });
  const both = await Promise.all([database.query('select 1 as one'), database.query('select 1 as one')]);
  expect(both.map(([row]) => row)).toEqual([{ one: 1 }, { one: 1 }]);
  const before = pooler.refused();
  expect(before).toBeGreaterThan(0);
  expect(await codeOf(database.query('select pg_terminate_backend(pg_backend_pid())'))).toBe('E_STORE_AWAY');
  expect(await codeOf(database.query('select 1'))).toBeUndefined();
  expect([pooler.refused(), problems]).toEqual([before, []]);
  await database.close();
});

describe('an address that is read at each connect', () => {
  test('is the old one while it cannot be read, and the reason is told once', async () => {
    const problems: string[] = [];
    let address = made.address;
    const database = openDatabase(() => address, { connections: 1, onProblem: (each) => void problems.push(each) });
    await database.query('select 1');
    address = 'nonsense';
    for (let cut = 0; cut < 2; cut += 1) {
      expect(await codeOf(database.query('select pg_terminate_backend(pg_backend_pid())'))).toBe('E_STORE_AWAY');
      expect([...(await database.query('select 1 as one'))]).toEqual([{ one: 1 }]);
    }
    expect(problems.map((each) => each.split(':')[0])).toEqual(['E_STORE_ADDRESS', 'E_STORE_ADDRESS']);
    await database.close();
  });

  test('tells why a connection cannot be made, once, and again after one could be made', async () => {
    const problems: string[] = [];
    let address = proxied;
    const database = openDatabase(() => address, { connections: 1, onProblem: (each) => void problems.push(each) });
    for (let round = 0; round < 2; round += 1) {
      address = made.address.replace(name, 'nowhere');
      for (let attempt = 0; attempt < 2; attempt += 1)
        expect(await codeOf(database.query('select 1'))).toBe('E_STORE_ADDRESS');
      address = proxied;
      expect(await codeOf(database.query('select 1'))).toBeUndefined();
      expect(await codeOf(database.query('select pg_terminate_backend(pg_backend_pid())'))).toBe('E_STORE_AWAY');
    }
    expect(problems).toHaveLength(2);
    await database.close();
  });
});

test('two reasons why no connection can be made are told once each, however often they alternate', async () => {
  const problems: string[] = [];
  let address = made.address.replace(name, 'nowhere');
  const database = openDatabase(() => address, { connections: 1, onProblem: (each) => void problems.push(each) });
  address = 'nonsense';
  for (let attempt = 0; attempt < 3; attempt += 1)
    expect(await codeOf(database.query('select 1'))).toBe('E_STORE_ADDRESS');
  expect(problems).toHaveLength(2);
  await database.close();
});

describe('a server that refuses', () => {
  test('a statement that the server refuses is not repeated', async () => {
    let asked = 0;
    const query = repeating(direct, () => {
      asked += 1;
      return true;
    });
    expect(await codeOf(query('select 1 / 0'))).toBe('E_STORE_WRITE');
    expect(await codeOf(query('select * from gdn_instance'))).toBe('E_STORE_SCHEMA');
    expect(asked).toBe(0);
  });

  test('a database that does not exist is an address that cannot be used', async () => {
    const database = openDatabase(made.address.replace(name, 'nowhere'), { connections: 1 });
    expect(await codeOf(database.query('select 1'))).toBe('E_STORE_ADDRESS');
    await database.close();
  });

  test('a server that takes no writes is away', async () => {
    const database = openDatabase(made.address, { connections: 1 });
    await database.query('set default_transaction_read_only = on');
    expect(await codeOf(database.query('insert into counted values (1)'))).toBe('E_STORE_AWAY');
    // The connection that led to it was left.
    expect(await codeOf(database.query('insert into counted values (1)'))).toBeUndefined();
    await database.close();
  });

  test('a closed database is away', async () => {
    const database = openDatabase(made.address, { connections: 1 });
    await database.close();
    expect(await codeOf(database.query('select 1'))).toBe('E_STORE_AWAY');
  });
});
