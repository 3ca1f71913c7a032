import { beforeEach, describe, expect, test } from '../testing/with-postgres.ts';
import type { AgentAddress } from '@goondan/types';
import type { LogFrame } from '@goondan/runtime/history';
import { StoreAddress } from '../driver/address.ts';
import { codedError } from '../driver/coded-error.ts';
import type { Database } from '../driver/database.ts';
import { claimInstance } from '../testing/claim-instance.ts';
import { codeOf } from '../testing/code-of.ts';
import { countStatements } from '../testing/count-statements.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { PostgresLog } from './conversation-log.ts';
import { until } from '../../../../test/until.ts';

const database = countStatements((await openTestDatabase()).database);
const swarm = 'swarm';
const never = 1e6;
let instances = 0;
let instance: AgentAddress;

beforeEach(() => {
  instance = { agentName: 'coder', instanceKey: `key ${++instances}` };
  database.take();
});

function logOf(node: string, options = {}, through: Database = database) {
  return new PostgresLog({ database: through, swarm, node, mayRepeat: () => false }, { waitMs: never, ...options });
}

function frame(seq: number, more: Partial<LogFrame> = {}): LogFrame {
  return { seq, last: seq, line: `{"seq":${seq},"text":"äöü \\u0000"}`, isDurable: true, ...more };
}

const commitOf = (version: number, handled = 0) => ({
  version,
  messages: 2,
  deadLetters: 0,
  updatedAt: 1_700_000_000_123,
  handled,
});

const usage = { inputTokens: 1, outputTokens: 1, totalTokens: 2 };
const spent = [{ provider: 'anthropic', model: 'large', day: '2026-11-17', calls: 1, usage }];

async function paidCalls() {
  const rows = await database.query<{ calls: number }>(
    'select calls::int as calls from gdn_spending where swarm = $1 and key = $2',
    [swarm, instance.instanceKey],
  );
  return rows.map(({ calls }) => calls);
}

async function rowOf() {
  const [row] = await database.query<Record<string, unknown>>(
    `select *, extract(epoch from updated_at) * 1000 as at from gdn_instance where swarm = $1 and key = $2`,
    [swarm, instance.instanceKey],
  );
  return row;
}

async function framesOf() {
  const rows = await database.query<{ line: string }>(
    'select line from gdn_frame where swarm = $1 and key = $2 order by seq',
    [swarm, instance.instanceKey],
  );
  return rows.map(({ line }) => line);
}

describe('S-02 every write carries the epoch of its claim', () => {
  const writes: readonly (readonly [string, (log: PostgresLog, epoch: number) => Promise<unknown>])[] = [
    ['append', (log, epoch) => log.append(instance, epoch, frame(2))],
    ['commit', (log, epoch) => log.append(instance, epoch, frame(2, { commit: { ...commitOf(1), spent } }))],
    [
      'checkpoint',
      (log, epoch) =>
        log.putCheckpoint(instance, epoch, { seq: 1, text: '{}', base: { type: 'append', lines: 'line\n' } }),
    ],
  ];

  test.each(writes)('%s of an owner that was overtaken is fenced and changes nothing', async (_name, write) => {
    const old = await claimInstance(database, swarm, instance, 'one');
    await logOf('one').append(instance, old, frame(1));
    const taken = await claimInstance(database, swarm, instance, 'two');
    const before = [await rowOf(), await framesOf(), await paidCalls()];
    expect(await codeOf(write(logOf('one'), old))).toBe('E_FENCED');
    // Neither the node nor the epoch is enough on its own.
    expect(await codeOf(write(logOf('one'), taken))).toBe('E_FENCED');
    expect(await codeOf(write(logOf('two'), old))).toBe('E_FENCED');
    expect([await rowOf(), await framesOf(), await paidCalls()]).toEqual(before);
    await write(logOf('two'), taken);
    expect([await rowOf(), await framesOf(), await paidCalls()]).not.toEqual(before);
  });

  test('a log is loaded only by its owner', async () => {
    await claimInstance(database, swarm, instance, 'one');
    expect(await codeOf(logOf('two').load(instance))).toBe('E_FENCED');
    expect(await logOf('one').load(instance)).toEqual({ epoch: 1, base: [], frames: [] });
  });

  test('of two writers with the same epoch one is fenced', async () => {
    const epoch = await claimInstance(database, swarm, instance, 'one');
    const written = await Promise.allSettled(
      ['a', 'b', 'c'].map((line) => logOf('one').append(instance, epoch, frame(1, { line }))),
    );
    expect(written.filter(({ status }) => status === 'fulfilled')).toHaveLength(1);
    expect(await framesOf()).toHaveLength(1);
  });
});

describe('frames', () => {
  test('frames that need not be durable are written with the next durable one, in one statement', async () => {
    const epoch = await claimInstance(database, swarm, instance, 'one');
    const log = logOf('one');
    database.take();
    await log.append(instance, epoch, frame(1, { last: 3, isDurable: false }));
    await log.append(instance, epoch, frame(4, { isDurable: false }));
    expect(database.take()).toEqual([]);
    await log.append(instance, epoch, frame(5));
    expect(database.take()).toHaveLength(1);
    expect((await logOf('one').load(instance)).frames).toEqual([1, 4, 5].map((seq) => frame(seq).line));
  });

  test('a load includes the frames that wait in memory', async () => {
    const epoch = await claimInstance(database, swarm, instance, 'one');
    const log = logOf('one');
    await log.append(instance, epoch, frame(1, { isDurable: false }));
    database.take();
    expect((await log.load(instance)).frames).toEqual([frame(1).line]);
    expect(database.take()).toHaveLength(2);
  });

  test('frames that wait are written after a while, and above a number of bytes', async () => {
    const epoch = await claimInstance(database, swarm, instance, 'one');
    const soon = logOf('one', { waitMs: 1 });
    await soon.append(instance, epoch, frame(1, { isDurable: false }));
    await until(async () => (await framesOf()).length === 1);
    const small = logOf('one', { mostBytes: 10 });
    await small.append(instance, epoch, frame(2, { isDurable: false }));
    expect(await framesOf()).toHaveLength(2);
  });

  test.each([
    ['is away', '57P01'],
    ['refuses the password', '28P01'],
  ])('S-10 a write at whose end the lease has run out is fenced, also if the database %s', async (_title, errno) => {
    const epoch = await claimInstance(database, swarm, instance, 'one');
    const error = codedError({ code: 'ERR_POSTGRES_SERVER_ERROR', errno }, StoreAddress.parse('postgres://db/gdn'));
    const log = logOf('one', {}, { ...database, query: () => Promise.reject(error) });
    expect(await codeOf(log.append(instance, epoch, frame(1)))).toBe('E_FENCED');
  });

  test('a gap is refused, and the log stays refused until it is loaded again', async () => {
    const epoch = await claimInstance(database, swarm, instance, 'one');
    const log = logOf('one');
    expect(await codeOf(log.append(instance, epoch, frame(2)))).toBe('E_FENCED');
    expect(await codeOf(log.append(instance, epoch, frame(1)))).toBe('E_FENCED');
    expect(await framesOf()).toEqual([]);
    await log.load(instance);
    await log.append(instance, epoch, frame(1));
  });

  test('S-03 a frame that is written twice is kept once, also when the first run comes late', async () => {
    const epoch = await claimInstance(database, swarm, instance, 'one');
    const committed = frame(1, { commit: { ...commitOf(1), spent } });
    await logOf('one').append(instance, epoch, committed);
    await logOf('one').append(instance, epoch, committed);
    expect(await paidCalls()).toEqual([1]);
    await logOf('one').append(instance, epoch, frame(2, { commit: commitOf(2, 4) }));
    await logOf('one').append(instance, epoch, committed);
    expect(await rowOf()).toMatchObject({ version: 2, handled: 4, last_seq: 2 });
    expect(await framesOf()).toHaveLength(2);
  });

  test('a commit keeps its facts beside the log', async () => {
    const epoch = await claimInstance(database, swarm, instance, 'one');
    await logOf('one').append(instance, epoch, frame(1, { commit: { ...commitOf(7, 3), deadLetters: 5 } }));
    const { version, messages, letters, at, handled, last_seq: last } = (await rowOf()) ?? {};
    expect([version, messages, letters, Number(at), handled, last]).toEqual([7, 2, 5, 1_700_000_000_123, 3, 1]);
  });
});

describe('checkpoints', () => {
  const checkpoint = (seq: number, lines: string, type: 'append' | 'rewrite' = 'append') => ({
    seq,
    text: `{"at":${seq}}`,
    base: { type, lines },
  });

  test('a checkpoint is one statement, and moves its frames to the archive', async () => {
    const epoch = await claimInstance(database, swarm, instance, 'one');
    const log = logOf('one');
    for (const seq of [1, 2, 3]) await log.append(instance, epoch, frame(seq));
    database.take();
    await log.putCheckpoint(instance, epoch, checkpoint(2, 'one\n'));
    expect(database.take()).toHaveLength(1);
    expect(await log.load(instance)).toEqual({
      epoch,
      checkpoint: '{"at":2}',
      base: ['one\n'],
      frames: [frame(3).line],
    });
    const archived = await database.query('select seq, last, lines from gdn_archive where key = $1', [
      instance.instanceKey,
    ]);
    expect([...archived]).toEqual([{ seq: 1, last: 2, lines: `${frame(1).line}\n${frame(2).line}` }]);
  });

  test('the base grows by parts, and a rewrite replaces it', async () => {
    const epoch = await claimInstance(database, swarm, instance, 'one');
    const log = logOf('one');
    for (const seq of [1, 2, 3]) await log.append(instance, epoch, frame(seq));
    await log.putCheckpoint(instance, epoch, checkpoint(1, 'one\n'));
    await log.putCheckpoint(instance, epoch, checkpoint(2, 'two\n'));
    expect((await log.load(instance)).base.join('')).toBe('one\ntwo\n');
    await log.putCheckpoint(instance, epoch, checkpoint(3, 'new\n', 'rewrite'));
    expect((await log.load(instance)).base.join('')).toBe('new\n');
  });

  test('a checkpoint that is written twice is kept once', async () => {
    const epoch = await claimInstance(database, swarm, instance, 'one');
    const log = logOf('one');
    for (const seq of [1, 2]) await log.append(instance, epoch, frame(seq));
    await log.putCheckpoint(instance, epoch, checkpoint(1, 'one\n'));
    await log.putCheckpoint(instance, epoch, checkpoint(1, 'one\n'));
    expect((await log.load(instance)).base.join('')).toBe('one\n');
    await log.putCheckpoint(instance, epoch, checkpoint(2, 'two\n'));
    expect(await codeOf(log.putCheckpoint(instance, epoch, checkpoint(1, 'one\n')))).toBe('E_FENCED');
    expect(await codeOf(log.putCheckpoint(instance, epoch, checkpoint(9, 'x\n')))).toBe('E_FENCED');
    expect((await log.load(instance)).base.join('')).toBe('one\ntwo\n');
  });
});
