import { describe, expect, test } from '../testing/with-postgres.ts';
import { type AgentAddress, createUserMessage } from '@goondan/types';
import type { Row } from '../driver/database.ts';
import { fakeEvent } from '../../../runtime/src/testing/fake-swarm.ts';
import type { HistoryReader } from '@goondan/runtime/history';
import { advanceKeptStart, decodeStart, readArchivedTurns, snapshotOf } from '@goondan/runtime/internal';
import { claimInstance } from '../testing/claim-instance.ts';
import { codeOf } from '../testing/code-of.ts';
import { countStatements } from '../testing/count-statements.ts';
import { openStore } from '../testing/open-store.ts';
import { questionOf } from '../testing/question-of.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { postgresAdmin } from './admin.ts';
import { DELETE } from './admin-statements.ts';
import { PostgresQuestions } from './questions.ts';
import { trimHistory } from './trim-history.ts';
import { until } from '../../../../test/until.ts';

const database = countStatements((await openTestDatabase()).database);
const instance: AgentAddress = { agentName: 'coder', instanceKey: 'key' };
const emptyStart = { version: 0, seq: 0, messages: [], states: { known: {}, unknown: [] } };
let swarms = 0;

/** Reads columns of the only instance of a swarm. */
async function rowOf<Columns extends Row>(swarm: string, columns: string): Promise<Partial<Columns>> {
  const [row] = await database.query<Columns>(`select ${columns} from gdn_instance where swarm = $1`, [swarm]);
  return row ?? {};
}

function openSwarm(node = 'one', swarm = `swarm ${++swarms}`) {
  const store = openStore(database, swarm, { node });
  const { log, conversations } = store;
  const deleted: AgentAddress[] = [];
  const linesOf = async (of: AgentAddress) => {
    const rows = await database.query<{ lines: string }>(
      `select lines from (select seq, lines from gdn_archive where swarm = $1 and key = $2
       union all select seq, line from gdn_frame where swarm = $1 and key = $2) as log order by seq`,
      [swarm, of.instanceKey],
    );
    return rows.map(({ lines }) => lines.split('\n'));
  };
  const history: Pick<HistoryReader, 'history' | 'readIntact' | 'pending'> = {
    history: async (of) => ({ start: emptyStart, turns: readArchivedTurns(of, await linesOf(of)) }),
    readIntact: async (of) => ({ ...snapshotOf(of, await log.load(of)), lostStates: [], problems: [] }),
    pending: async () => [],
  };
  const onDeleted = (of: AgentAddress) => void deleted.push(of);
  const admin = postgresAdmin(store.context, { log, blobs: store.blobs, history, onDeleted });
  const runTurn = async (id: string, more = {}) => {
    const event = fakeEvent(id, { id, instanceKey: 'key' });
    const { seq = 0 } = await store.inbox.accept(instance, event);
    const turnId = `turn-${id}`;
    const { epoch } = await conversations.open(instance, turnId, { seq, event });
    const message = createUserMessage(id);
    const records = [{ type: 'message', event: { type: 'append', message }, author: { kind: 'input' } }] as const;
    const result = { turnId, finishReason: 'text_response', ...more } as const;
    const delta = { type: 'append', messages: [message] } as const;
    await conversations.commit(instance, epoch, turnId, delta, { n: 1 }, result, { at: 0, records });
    return event;
  };
  return { ...store, admin, deleted, runTurn, swarm, linesOf };
}

/** Names the tables that have rows of instances. */
async function tablesOfInstances(): Promise<string[]> {
  const tables = await database.query<{ table_name: string }>(
    `select table_name from information_schema.columns where table_schema = 'public' and column_name in ('swarm', 'agent', 'key')
     group by table_name having count(*) = 3`,
  );
  return tables.map(({ table_name: table }) => table);
}

async function rowsOf(swarm: string): Promise<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const table of await tablesOfInstances()) {
    const [row] = await database.query<{ count: number }>(
      `select count(*) as count from ${table} where swarm = $1 and key = 'key'`,
      [swarm],
    );
    if ((row?.count ?? 0) > 0) counts[table] = row?.count ?? 0;
  }
  return counts;
}

describe('a deletion', () => {
  test('removes every row of the instance in one statement, and is told', async () => {
    const { admin, runTurn, swarm, deleted, log, closeProcess } = openSwarm();
    await runTurn('a');
    await closeProcess();
    const { epoch } = await log.load(instance);
    await log.putCheckpoint(instance, epoch, { seq: 3, text: '{}', base: { type: 'append', lines: 'x\n' } });
    for (const [table, columns, values] of [
      ['gdn_frame', 'seq, last, line', `100, 100, 'x'`],
      ['gdn_answer', 'event_id, seq, reply', `'a', 1, 'x'`],
    ])
      await database.query(
        `insert into ${table} (swarm, agent, key, ${columns}) values ('${swarm}', 'coder', 'key', ${values})`,
      );
    expect(Object.keys(await rowsOf(swarm)).toSorted()).toEqual([
      'gdn_answer',
      'gdn_archive',
      'gdn_base',
      'gdn_frame',
      'gdn_inbox',
      'gdn_instance',
    ]);
    database.take();
    expect(await admin.delete(instance)).toEqual({ inputs: 0 });
    // The first statement reads the epoch.
    expect(database.take()).toHaveLength(2);
    expect(await rowsOf(swarm)).toEqual({});
    expect(deleted).toEqual([instance]);
    expect(await admin.has(instance)).toBe(false);
    expect(await codeOf(admin.delete(instance))).toBe('E_INSTANCE_UNKNOWN');
  });

  test('names every table that has rows of instances', async () => {
    for (const table of await tablesOfInstances()) expect(DELETE).toContain(`delete from ${table}`);
  });

  test('with pending input is refused; if it is forced, it ends the questions and the answers for always, too, and tells the nodes', async () => {
    const { admin, inbox, runTurn, context, swarm } = openSwarm();
    const event = await runTurn('a');
    await inbox.accept(instance, { ...event, id: 'b' });
    const questions = await PostgresQuestions.open(context, { scanMs: 1e6 });
    const ids = ['one', 'two', 'three'];
    for (const id of ids) await questions.put(questionOf(id));
    await questions.put(questionOf('four', { instanceKey: 'other' }));
    const granted = { decision: 'approved', by: 'ann', always: 'tool', decidedAt: '2026-01-01T00:00:00Z' } as const;
    await questions.answer({ ...questionOf('two'), answer: granted });
    const told: string[] = [];
    questions.onChange((id, kept) => void told.push(kept === undefined ? id : `${id} stays`));
    expect(await codeOf(admin.delete(instance))).toBe('E_INSTANCE_PENDING');
    expect(await questions.list()).toHaveLength(4);
    expect(await inbox.pendingEntries(instance)).toHaveLength(1);
    expect(await admin.delete(instance, { force: true })).toEqual({ inputs: 1 });
    expect(await rowsOf(swarm)).toEqual({});
    expect((await questions.list()).map(({ id }) => id)).toEqual(['four']);
    await questions.remove('four');
    expect([told.slice(0, 3).toSorted(), told.slice(3)]).toEqual([ids.toSorted(), ['four']]);
    await questions.close();
  });

  test('S-03 answers the requests of other instances, and keeps answers that no caller has taken', async () => {
    const { admin, inbox, runTurn, swarm } = openSwarm();
    const event = await runTurn('a');
    const request = {
      source: { kind: 'agent', name: 'lead' },
      replyTo: { target: 'lead', correlationId: 'c' },
      callChain: [{ agentName: 'lead', instanceKey: 'main' }],
    } as const;
    await inbox.accept(instance, { ...event, ...request, id: 'asked' });
    await inbox.accept(instance, { ...event, ...request, id: 'damaged' });
    await inbox.accept(instance, { ...event, id: 'told' });
    await database.query(`update gdn_inbox set event = 'no json' where swarm = $1 and event_id = 'damaged'`, [swarm]);
    await database.query(
      `insert into gdn_answer (swarm, agent, key, event_id, seq, caller_agent, caller_key, reply)
values ($1, 'coder', 'key', 'answered', 1, 'lead', 'main', 'x'), ($1, 'coder', 'key', 'of files', 1, null, null, 'x')`,
      [swarm],
    );
    expect(await admin.delete(instance, { force: true })).toEqual({ inputs: 3 });
    const answers = await database.query<{ event_id: string; caller_agent: string; reply: string }>(
      'select event_id, caller_agent, reply from gdn_answer where swarm = $1 order by event_id',
      [swarm],
    );
    expect(answers.map(({ event_id: id, caller_agent: agent }) => [id, agent])).toEqual([
      ['answered', 'lead'],
      ['asked', 'lead'],
      ['damaged', 'lead'],
    ]);
    expect(JSON.parse(answers[1]?.reply ?? '')).toMatchObject({
      replyTo: { correlationId: 'c' },
      result: { finishReason: 'error', error: { code: 'E_INSTANCE_DELETED' } },
    });
    expect(await rowsOf(swarm)).toEqual({ gdn_answer: 3 });
  });

  test('S-02 of an instance that another node owns is fenced and changes nothing', async () => {
    const { admin, runTurn, swarm } = openSwarm();
    await runTurn('a');
    const { epoch } = { epoch: await claimInstance(database, swarm, instance, 'two') };
    const before = await rowsOf(swarm);
    expect(await codeOf(admin.delete(instance))).toBe('E_FENCED');
    const key = [swarm, instance.agentName, instance.instanceKey];
    for (const [owner, claimed] of [['one', epoch] as const, ['two', epoch - 1] as const]) {
      const [outcome] = await database.query(DELETE, [...key, owner, claimed, true, [], [], '[]']);
      expect(outcome).toMatchObject({ is_done: false, is_owner: false });
    }
    expect(await rowsOf(swarm)).toEqual(before);
  });

  test('S-03 and an accept at the same time: the event is pending afterwards, or the deletion was refused', async () => {
    for (let attempt = 0; attempt < 30; attempt += 1) {
      const { admin, inbox, runTurn, swarm } = openSwarm();
      const event = await runTurn('a');
      const [deletion, accepted] = await Promise.all([
        codeOf(admin.delete(instance)),
        inbox.accept(instance, { ...event, id: 'b' }),
      ]);
      expect(accepted.duplicate).toBe(false);
      const counts = await rowsOf(swarm);
      const pending = (await inbox.pendingEntries(instance)).map(({ event: { id } }) => id);
      expect([pending, counts['gdn_instance']]).toEqual([['b'], 1]);
      if (deletion === undefined) expect(counts).toEqual({ gdn_instance: 1, gdn_inbox: 1 });
      else expect(deletion).toBe('E_INSTANCE_PENDING');
    }
  });

  test('S-03 that waits for an accept sees its event', async () => {
    const { admin, inbox, runTurn, swarm } = openSwarm();
    await runTurn('a');
    // An accept that keeps the row until the deletion has begun and waits for it.
    const accepting = database.query(
      `with numbered as (update gdn_instance set last_input = last_input + 1 where swarm = $1 returning last_input),
         put as (insert into gdn_inbox (swarm, agent, key, seq, event_id, attempt, event)
           select $1, 'coder', 'key', last_input, 'b', 'x', '{"id":"b"}' from numbered)
       select pg_sleep(1) from numbered`,
      [swarm],
    );
    const free = () => database.query('select 1 from gdn_instance where swarm = $1 for update skip locked', [swarm]);
    await until(async () => (await free()).length === 0, { about: 'the accept holds the row' });
    expect(await codeOf(admin.delete(instance))).toBe('E_INSTANCE_PENDING');
    await accepting;
    expect((await inbox.pendingEntries(instance)).map(({ event }) => event.id)).toEqual(['b']);
    expect(await admin.has(instance)).toBe(true);
  });
});

describe('a fork', () => {
  test('appears completely with one statement, and continues', async () => {
    const { admin, runTurn, conversations, log, swarm } = openSwarm();
    await runTurn('a');
    await runTurn('b');
    expect(await admin.fork(instance, { as: 'fork', at: 1 })).toMatchObject({ messages: 1 });
    const to = { ...instance, instanceKey: 'fork' };
    const opened = await conversations.open(to, 'turn-c');
    expect([opened.version, (await opened.loadBase()).length, opened.extensionState]).toEqual([1, 1, { n: 1 }]);
    expect(await codeOf(admin.fork(instance, { as: 'fork' }))).toBe('E_INSTANCE_EXISTS');
    expect(await codeOf(admin.fork(instance, { as: 'key' }))).toBe('E_INSTANCE_EXISTS');
    expect(await codeOf(admin.fork({ ...instance, instanceKey: 'none' }, { as: 'x' }))).toBe('E_INSTANCE_UNKNOWN');
    const [row] = await database.query('select version, messages from gdn_instance where swarm = $1 and key = $2', [
      swarm,
      'fork',
    ]);
    expect(row).toEqual({ version: 1, messages: 1 });
    await log.close();
  });

  test('takes no row that another node has claimed', async () => {
    const { admin, runTurn, swarm } = openSwarm();
    await runTurn('a');
    await claimInstance(database, swarm, { ...instance, instanceKey: 'fork' }, 'two');
    expect(await codeOf(admin.fork(instance, { as: 'fork' }))).toBe('E_INSTANCE_EXISTS');
  });
});

describe('the rest of the administration', () => {
  test('a reset leaves an empty conversation', async () => {
    const { admin, runTurn, closeProcess, log } = openSwarm();
    await runTurn('a');
    await closeProcess();
    await admin.reset(instance);
    expect(snapshotOf(instance, await log.load(instance))).toMatchObject({ version: 2, messages: [] });
  });

  test('dead letters are counted, listed by any node, and dropped by the owner', async () => {
    const { admin, runTurn, closeProcess, swarm } = openSwarm();
    await runTurn('a', { finishReason: 'error', error: { code: 'E_DEAD_LETTER', message: 'it crashed' } });
    await closeProcess();
    const counted = async () => (await rowOf<{ letters: number }>(swarm, 'letters')).letters;
    const other = openSwarm('two', swarm).admin;
    expect([(await other.deadLetters.list(instance)).map(({ reason }) => reason), await counted()]).toEqual([
      ['it crashed'],
      1,
    ]);
    expect(await codeOf(other.deadLetters.drop(instance, 'a'))).toBe('E_FENCED');
    await admin.deadLetters.drop(instance, 'a');
    expect([await admin.deadLetters.list(instance), await counted()]).toEqual([[], 0]);
  });
});

/** Runs turns, each with a checkpoint after it, and returns the epoch of their claim. */
async function archiveTurns(
  { runTurn, closeProcess, log, swarm }: ReturnType<typeof openSwarm>,
  turns: readonly string[],
): Promise<number> {
  let epoch = 0;
  for (const id of turns) {
    await runTurn(id);
    const row = await rowOf<{ last_seq: number; epoch: number }>(swarm, 'last_seq, epoch');
    epoch = row.epoch ?? 0;
    await log.putCheckpoint(instance, epoch, {
      seq: row.last_seq ?? 0,
      text: '{}',
      base: { type: 'append', lines: '' },
    });
  }
  await closeProcess();
  return epoch;
}

describe('the bound of the history', () => {
  test('the oldest lines become a part of its start', async () => {
    const opened = openSwarm();
    const { swarm, context, linesOf } = opened;
    const turns = ['a', 'b', 'c', 'd'];
    const epoch = await archiveTurns(opened, turns);
    const all = await linesOf(instance);
    expect(all).toHaveLength(turns.length);
    const keep = Buffer.byteLength(
      all
        .slice(2)
        .map((each) => each.join('\n'))
        .join(''),
    );
    await trimHistory({ ...context, node: 'two' }, instance, epoch, keep);
    await trimHistory(context, instance, epoch - 1, keep);
    expect(await linesOf(instance)).toEqual(all);
    await trimHistory(context, instance, epoch, keep);
    expect(await linesOf(instance)).toEqual(all.slice(2));
    const row = await rowOf<{ history_start: string }>(swarm, 'history_start');
    const start = decodeStart(Buffer.from(row.history_start ?? ''));
    expect(start).toMatchObject({ version: 2, seq: 2, states: { known: { n: 1 }, unknown: [] } });
    expect(row.history_start).toBe(await advanceKeptStart(instance, undefined, all.slice(0, 2).flat()));
  });

  test('a run that is late does not set the start back', async () => {
    const opened = openSwarm();
    const { swarm, context, linesOf } = opened;
    const epoch = await archiveTurns(opened, ['a', 'b', 'c']);
    const all = await linesOf(instance);
    let runs = 0;
    const late = { ...database };
    late.query = async (statement, values) => {
      // Another run removes all lines after this one has read the oldest.
      if (statement.includes('delete from gdn_archive') && ++runs === 1) await trimHistory(context, instance, epoch, 1);
      return database.query(statement, values);
    };
    await trimHistory({ ...context, database: late }, instance, epoch, 1);
    const row = await rowOf<{ history_start: string }>(swarm, 'history_start');
    expect(runs).toBe(1);
    expect(row.history_start).toBe(await advanceKeptStart(instance, undefined, all.flat()));
  });

  test('lines that are damaged are kept', async () => {
    const { runTurn, log, swarm, context, linesOf } = openSwarm();
    await runTurn('a');
    const { epoch } = await log.load(instance);
    await log.putCheckpoint(instance, epoch, { seq: 3, text: '{}', base: { type: 'append', lines: '' } });
    await database.query(`update gdn_archive set lines = replace(lines, '"seq"', '"sEq"') where swarm = $1`, [swarm]);
    const before = await linesOf(instance);
    await trimHistory(context, instance, epoch, 1);
    expect(await linesOf(instance)).toEqual(before);
  });
});

test('Y-02 a deletion leaves files that nothing names yet, because another node may be accepting their input', async () => {
  const { admin, blobs, runTurn, closeProcess } = openSwarm();
  await runTurn('a');
  const [named, fresh] = ['cat', 'dog'].map((text) => new TextEncoder().encode(text));
  const digest = await blobs.put(instance, named ?? new Uint8Array());
  await blobs.named(instance, [digest]);
  const unnamed = await blobs.put(instance, fresh ?? new Uint8Array());
  await closeProcess();
  await admin.delete(instance, { force: true });
  expect([await blobs.size(digest), await blobs.size(unnamed)]).toEqual([undefined, 3]);
});
