import { beforeAll, describe, expect, test } from '../testing/with-postgres.ts';
import { cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  blame,
  durableStore,
  type HistoryReader,
  type Journal,
  openStoreReader,
  readConversationAt,
  readHistory,
  type StoreReader,
} from '@goondan/runtime/history';
import { defaultLimits, loggedConversations, readFork } from '@goondan/runtime/internal';
import {
  type AgentAddress,
  type AgentEvent,
  createAssistantMessage,
  createUserMessage,
  GoondanError,
} from '@goondan/types';
import { sampleStep } from '../../../../test/samples.ts';
import { systemFs } from '../../../runtime/src/ports/fs.ts';
import { QuestionFile } from '../../../runtime/src/workspace/questions/question-file.ts';
import { instancePaths } from '../../../runtime/src/workspace/layout/instance-paths.ts';
import { seededRandom } from '../../../runtime/src/workspace/simulation/seeded-random.ts';
import { writeRandomHistory } from '../../../runtime/src/workspace/simulation/write-random-history.ts';
import type { Database } from '../driver/database.ts';
import { claimInstance } from '../testing/claim-instance.ts';
import { codeOf } from '../testing/code-of.ts';
import { countStatements } from '../testing/count-statements.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { temporaryFolder } from '../../../../test/temporary-folder.ts';
import { postgresAnswers } from './answers.ts';
import { PostgresLog } from './conversation-log.ts';
import { importFiles } from './import-files.ts';
import { PostgresInbox } from './inbox.ts';
import { openPostgresReader } from './open-reader.ts';

const { address, database } = await openTestDatabase();
const stateRoot = temporaryFolder();

const many = { stateRoot, workspaceId: 'many' };
const odd = 'ä "quoted" \\ \u0000 \ud800 🙂 \u2028 {a,b}';
/** An id of an event, which is not in JSON. */
const oddId = 'ä "quoted" \\u0000 🙂 \u2028 {a,b}';
const asked = {
  ...{
    id: 'one',
    agent: 'agent-1',
    instanceKey: 'k1',
    reason: odd,
    eventId: 'e',
    traceId: 't',
    key: 'k',
    toolCallId: 'x',
  },
  ...{ toolName: 'bash', kind: 'call', args: {}, digest: 'd' },
  ...{ askedAt: '2026-01-01T00:00:00Z', expiresAt: '2999-01-01T00:00:00Z' },
};
const limits = { ...defaultLimits, checkpointBytes: 2000, shortBaseBytes: 10 };
/** Many segments, of which the oldest are deleted. */
const short = { ...limits, archive: { bytes: 4000, files: 2 } };

function eventOf(id: string, more: Partial<AgentEvent> = {}): AgentEvent {
  const content = [{ type: 'text' as const, text: odd }];
  const event = { id, type: 'message', createdAt: new Date(7), metadata: {}, source: { kind: 'user', name: 'cli' } };
  return { ...event, input: content, traceId: 'a'.repeat(32), ...more } as unknown as AgentEvent;
}

/** Runs a turn through the inbox. Without a result, the turn is interrupted. */
async function runTurn(
  journal: Journal,
  instance: AgentAddress,
  event: AgentEvent,
  { isCut = false, state = {}, code = '' }: { isCut?: boolean; state?: Record<string, string>; code?: string } = {},
): Promise<void> {
  const accepted = await journal.accept(instance, event);
  const turnId = `turn-${event.id}`;
  const opened = await journal.open(instance, turnId, { seq: accepted.seq ?? 0, event });
  const input = createUserMessage(odd, {}, { id: `${turnId}.input`, createdAt: new Date(1) });
  const reply = createAssistantMessage(`${odd} ${event.id}`, {}, { id: `${turnId}.reply`, createdAt: new Date(2) });
  await journal.append(instance, opened.epoch, 0, [
    { type: 'message', event: { type: 'append', message: input }, author: { kind: 'input' } },
  ]);
  if (isCut) return;
  const records = [{ type: 'message', event: { type: 'append', message: reply }, author: { kind: 'model' } }] as const;
  const states = { ...opened.extensionState, ...state };
  const result =
    code === ''
      ? ({ turnId, finishReason: 'text_response', responseMessage: reply } as const)
      : ({ turnId, finishReason: 'error', error: { code, message: odd } } as const);
  const delta = { type: 'append', messages: [input, reply] } as const;
  await journal.commit(instance, opened.epoch, turnId, delta, states, result, { at: 1, records });
}

/** Everything that can be read of a conversation, as one text. */
async function everything({ history, inbox, deadLetters, directory }: StoreReader, instance: AgentAddress) {
  const { start, turns } = await history.history(instance);
  const kept = await Array.fromAsync(turns);
  const { version, messages, extensionState, lostStates, problems } = await history.readIntact(instance);
  const page = await readHistory(history, instance, { limit: 1000 });
  const middle = page.first <= page.last ? { at: Math.floor((page.first + page.last) / 2) } : undefined;
  return JSON.stringify([
    await history.read(instance),
    [version, messages, extensionState, lostStates, problems],
    [start, kept, page],
    await history.pending(instance),
    await blame(history, instance, { replaced: 1000 }),
    middle && (await blame(history, instance, middle)),
    middle && (await readConversationAt(history, instance, middle.at)),
    await readFork(history, instance, undefined),
    middle && (await readFork(history, instance, middle.at)),
    await inbox.pendingEntries(instance),
    await deadLetters.list(instance),
    await directory.summary(instance),
    await directory.has(instance),
  ]);
}

/** The lines of the log in the files, without a torn end. */
function linesInFiles(workspaceId: string, instance: AgentAddress): string[] {
  const { events, messages } = instancePaths(`${stateRoot}/workspaces/${workspaceId}`, instance);
  const older = readdirSync(messages).filter((name) => /^events\.\d+\.jsonl$/.test(name));
  const paths = [...older.toSorted().map((name) => join(messages, name)), events];
  return paths.flatMap((path) =>
    readFileSync(path, 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{"crc"')),
  );
}

async function linesInDatabase(swarm: string, { agentName, instanceKey }: AgentAddress): Promise<string[]> {
  const rows = await database.query<{ lines: string }>(
    `select lines from (
       select seq, lines from gdn_archive where swarm = $1 and agent = $2 and key = $3
       union all select seq, line from gdn_frame where swarm = $1 and agent = $2 and key = $3
     ) as row order by seq`,
    [swarm, agentName, instanceKey],
  );
  return rows.flatMap(({ lines }) => lines.split('\n'));
}

async function writeConversation(place: typeof many, index: number): Promise<void> {
  const random = seededRandom(13, index);
  const instance = { agentName: `agent-${index % 3}`, instanceKey: index % 7 === 0 ? `k ${index} ä/🙂` : `k${index}` };
  const journal = await durableStore({ ...place, limits: index % 10 === 9 ? short : limits });
  await journal.openInbox();
  if (index % 50 === 49) {
    // Only input.
    await journal.accept(instance, eventOf(`only-${oddId}`));
    await journal.close();
    return;
  }
  await writeRandomHistory(journal, instance, random, index % 10 === 9 ? 60 : 1 + random.below(8));
  if (index % 4 === 0) await runTurn(journal, instance, eventOf('one'), { state: { memo: odd } });
  if (index % 4 === 1) await runTurn(journal, instance, eventOf('long'), { state: { memo: 'ü'.repeat(70_000) } });
  if (index % 5 === 0) {
    const replyTo = { target: 'agent:asker', correlationId: 'c' };
    await runTurn(journal, instance, eventOf('asked', { replyTo }));
  }
  if (index % 6 === 0) await runTurn(journal, instance, eventOf('given up'), { code: 'E_DEAD_LETTER' });
  if (index % 8 === 0) await journal.fork(instance, { as: `fork of ${index}` });
  if (index % 3 === 0) await runTurn(journal, instance, eventOf('cut'), { isCut: true });
  if (index % 2 === 0) {
    await journal.accept(instance, eventOf('waits'));
    await journal.accept(instance, eventOf(`waits ${oddId}`));
    await journal.cancel(instance, 'waits', `reason ${oddId}`);
  }
  await journal.close();
}

async function putQuestion(place: { readonly stateRoot: string; readonly workspaceId: string }, record: object) {
  const questions = await QuestionFile.open({ fs: systemFs } as never, place);
  await questions.put(record as never);
  await questions.close();
}

describe('S-08 a swarm on files is copied', () => {
  const place = many;
  // Every fiftieth conversation has only input.
  const count = sampleStep === 1 ? 1000 : 20;
  const open = () => [openStoreReader(place), openPostgresReader({ address, swarm: 'imported' })] as const;

  beforeAll(async () => {
    for (let index = 0; index < count; index += 1) await writeConversation(place, index);
    await putQuestion(place, asked);
  }, 300_000);

  test('with everything that can be read of every conversation, line by line', async () => {
    const seen: number[] = [];
    const onProgress = ({ imported }: { readonly imported: number }) => void seen.push(imported);
    const result = await importFiles(place, database, 'imported', { onProgress });
    const [files, rows] = open();
    const instances = await files.directory.instances();
    expect(result).toMatchObject({ imported: instances.length, skipped: 0, problems: [] });
    expect(seen.at(-1)).toBe(instances.length);
    expect(instances.length).toBeGreaterThanOrEqual(count);
    const names = (list: readonly AgentAddress[]) => list.map((each) => JSON.stringify(each)).toSorted();
    expect(names(await rows.directory.instances())).toEqual(names(instances));
    for (const instance of instances) {
      expect(await everything(rows, instance)).toBe(await everything(files, instance));
      const summary = await rows.directory.summary(instance);
      if (summary.createdAt === undefined) continue;
      expect(await linesInDatabase('imported', instance)).toEqual(linesInFiles(place.workspaceId, instance));
    }
    const [approval] = await database.query<{ record: string }>(
      `select record from gdn_approval where swarm = 'imported'`,
    );
    expect(JSON.parse(approval?.record ?? '')).toEqual(asked);
    await files.close();
    await rows.close();
  }, 300_000);

  test('with a mark on each input whose turn has begun, for a caller at another node', async () => {
    const marks = await database.query<{ is_cut: boolean; began: boolean }>(
      `select distinct event_id = 'cut' as is_cut, began from gdn_inbox where swarm = 'imported' and pending order by is_cut`,
    );
    expect([...marks]).toEqual([
      { is_cut: false, began: false },
      { is_cut: true, began: true },
    ]);
  });

  test('and goes on: the next turn is the same on files and in the database', async () => {
    const [files, rows] = open();
    const context = { database, swarm: 'imported', node: 'one', mayRepeat: () => false };
    const journal = await durableStore({ ...place, limits });
    await journal.openInbox();
    let finished = 0;
    for (const instance of (await files.directory.instances()).slice(0, 40)) {
      await claimInstance(database, 'imported', instance, 'one');
      const log = new PostgresLog(context);
      const stored = loggedConversations(log, postgresAnswers(context));
      const [next] = await files.inbox.pendingEntries(instance);
      const isCut = next?.event.id === 'cut';
      const last = (await Array.fromAsync(files.history.archive(instance))).at(-1)?.turnId ?? '';
      if (!isCut && last.startsWith('turn-')) {
        // A turn that is asked for again has its result.
        const [first, second] = [await journal.open(instance, last), await stored.conversations.open(instance, last)];
        expect(second.finished).toEqual(first.finished as never);
        expect(second.finished).toMatchObject({ turnId: last });
        finished += 1;
      }
      const turnId = next ? `turn-${next.event.id}` : 'turn-next';
      const opened = [];
      for (const store of [journal, stored.conversations]) {
        const turn = await store.open(instance, turnId, next && { seq: next.seq, event: next.event });
        const { epoch, version, stateVersion, log: records, extensionState } = turn;
        const base = await turn.loadBase();
        opened.push(JSON.stringify([base, version, stateVersion, records, extensionState]));
        const message = createAssistantMessage('the end', {}, { id: 'end', createdAt: new Date(3) });
        const rest = [{ type: 'message', event: { type: 'append', message }, author: { kind: 'model' } }] as const;
        const delta = { type: 'rewrite', messages: [...base, message] } as const;
        const result = { turnId, finishReason: 'text_response' } as const;
        await store.commit(instance, epoch, turnId, delta, extensionState, result, {
          at: records.length,
          records: rest,
        });
      }
      expect(opened[1]).toBe(opened[0] ?? '');
      await stored.close();
      await log.close();
      expect(await timeless(rows.history, instance)).toBe(await timeless(files.history, instance));
      expect(await rows.inbox.pendingEntries(instance)).toEqual(await files.inbox.pendingEntries(instance));
    }
    expect(finished).toBeGreaterThan(3);
    await journal.close();
    await files.close();
    await rows.close();
  }, 300_000);
});

/** The conversation and its history, without the times of the last turn. */
async function timeless(history: HistoryReader, instance: AgentAddress): Promise<string> {
  const { start, turns } = await history.history(instance);
  const kept = (await Array.fromAsync(turns)).map(({ committedAt: _, events, ...turn }) => ({
    ...turn,
    events: events.map(({ at: __, ...event }) => event),
  }));
  return JSON.stringify([start, kept, await history.read(instance)]);
}

describe('an import', () => {
  const place = { stateRoot, workspaceId: 'few' };
  const instance = (index: number) => ({ agentName: 'coder', instanceKey: `k${index}` });

  beforeAll(async () => {
    const journal = await durableStore(place);
    for (let index = 0; index < 6; index += 1) await runTurn(journal, instance(index), eventOf(`e${index}`));
    await journal.close();
  });

  test('that was interrupted is repeated, and skips equal instances', async () => {
    const stop = new AbortController();
    const onProgress = ({ imported }: { readonly imported: number }) => imported === 2 && stop.abort(new Error('stop'));
    const interrupted = importFiles(place, database, 'again', { onProgress, signal: stop.signal });
    expect(await interrupted.catch((error: unknown) => String(error))).toBe('Error: stop');
    expect(await importFiles(place, database, 'again')).toMatchObject({ imported: 4, skipped: 2, problems: [] });
    expect(await importFiles(place, database, 'again')).toMatchObject({ imported: 0, skipped: 6, problems: [] });
  });

  test('goes on when the database was away, and knows an instance whose statement had ended', async () => {
    let isLost = false;
    const cut: Database = {
      ...database,
      async query(...question) {
        const rows = await database.query(...question);
        isLost = !isLost && question[0].includes('insert into gdn_instance');
        if (isLost) throw new GoondanError('E_STORE_AWAY', 'cut');
        return rows as never;
      },
    };
    expect(await importFiles(place, cut, 'cut')).toMatchObject({ imported: 6, skipped: 0, problems: [] });
    // Only conversations cannot be written.
    const away: Database = {
      ...database,
      query: (...question) =>
        question[0].includes('insert into gdn_instance')
          ? Promise.reject(new GoondanError('E_STORE_AWAY', 'away'))
          : database.query(...question),
    };
    expect(await codeOf(importFiles(place, away, 'away', { patienceMs: 50 }))).toBe('E_STORE_AWAY');
  });

  test('names an instance that differs, and copies the others', async () => {
    await importFiles(place, database, 'differs');
    const changes = [
      `update gdn_archive set lines = replace(lines, 'reply', 'other') where swarm = 'differs' and key = 'k0'`,
      `update gdn_inbox set event_id = 'x' where swarm = 'differs' and key = 'k1'`,
      `update gdn_base set lines = lines || ' ' where swarm = 'differs' and key = 'k2'`,
      `update gdn_instance set version = version + 1 where swarm = 'differs' and key = 'k3'`,
      `delete from gdn_instance where swarm = 'differs' and key = 'k4'`,
      `delete from gdn_archive where swarm = 'differs' and key = 'k4'`,
      `delete from gdn_inbox where swarm = 'differs' and key = 'k4'`,
      `delete from gdn_base where swarm = 'differs' and key = 'k4'`,
    ];
    for (const change of changes) await database.query(change);
    const { imported, skipped, problems } = await importFiles(place, database, 'differs');
    expect({ imported, skipped }).toEqual({ imported: 1, skipped: 1 });
    expect(problems.map(({ code, message }) => `${code} ${message}`).toSorted()).toEqual(
      [0, 1, 2, 3].map(
        (index) => `E_INSTANCE_EXISTS The database has another conversation of agent coder, instance "k${index}"`,
      ),
    );
  });

  test('copies answers for always with their conversation only, and never again', async () => {
    const files = { stateRoot, workspaceId: 'granted' };
    const other = { stateRoot, workspaceId: 'not-granted' };
    for (const [at, keys] of [[files, [0, 1]] as const, [other, [0]] as const]) {
      const journal = await durableStore(at);
      for (const index of keys) await runTurn(journal, instance(index), eventOf(`${at.workspaceId}-${index}`));
      await journal.close();
    }
    const answer = { decision: 'approved', always: 'tool', by: 'ann', decidedAt: asked.askedAt };
    for (const id of ['k0', 'k1']) await putQuestion(files, { ...asked, id, agent: 'coder', instanceKey: id, answer });
    const granted = () => database.query(`select id from gdn_approval where swarm = 'granted'`);
    await importFiles(other, database, 'granted');
    const { imported, problems } = await importFiles(files, database, 'granted');
    expect([imported, problems.length, await granted()]).toEqual([1, 1, [{ id: 'k1' }]]);
    // It is revoked, and the import is repeated.
    await database.query(`delete from gdn_approval where swarm = 'granted'`);
    expect(await importFiles(files, database, 'granted')).toMatchObject({ imported: 0, skipped: 1 });
    expect(await granted()).toEqual([]);
  });

  test('knows a copy that has grown, files that have grown, and both', async () => {
    const at = { agentName: 'coder', instanceKey: 'grows' };
    const older = { stateRoot: join(stateRoot, 'older'), workspaceId: 'grows' };
    const [newer, other] = ['newer', 'other'].map((name) => ({ ...older, stateRoot: join(stateRoot, name) }));
    if (newer === undefined || other === undefined) throw new Error('Two places were made.');
    const run = async (where: typeof older, ...ids: string[]) => {
      const journal = await durableStore(where);
      for (const id of ids) await runTurn(journal, at, eventOf(id));
      await journal.close();
    };
    await run(older, 'first', 'second');
    for (const copy of [newer, other]) cpSync(older.stateRoot, copy.stateRoot, { recursive: true });
    await run(newer, 'third');
    await run(other, 'fourth', 'fifth');
    await importFiles(newer, database, 'grown');
    expect(await importFiles(older, database, 'grown')).toMatchObject({ imported: 0, skipped: 1, problems: [] });
    const problemOf = async (where: typeof older, swarm: string) =>
      (await importFiles(where, database, swarm)).problems.map(({ code, message }) => `${code} ${message}`);
    const name = 'agent coder, instance "grows"';
    expect(await problemOf(other, 'grown')).toEqual([
      `E_INSTANCE_EXISTS The files and the database both have new turns of ${name} since the import`,
    ]);
    await importFiles(older, database, 'still');
    expect(await problemOf(newer, 'still')).toEqual([
      `E_INSTANCE_EXISTS The files of ${name} have newer turns than the database`,
    ]);
    const journal = await durableStore(older);
    await journal.accept(at, eventOf('waits'));
    await journal.close();
    expect(await problemOf(older, 'still')).toEqual([
      `E_INSTANCE_EXISTS The files of ${name} have newer turns than the database`,
    ]);
    expect(await problemOf(older, 'grown')).toEqual([
      `E_INSTANCE_EXISTS The files and the database both have new turns of ${name} since the import`,
    ]);
  });

  test('keeps the ids of handled events, and refuses an id that the database cannot keep', async () => {
    const ids = { stateRoot, workspaceId: 'ids' };
    const journal = await durableStore(ids);
    for (const id of ['a', 'b', 'c']) await runTurn(journal, instance(0), eventOf(id));
    await journal.accept(instance(1), eventOf('a\0b'));
    await journal.accept(instance(2), eventOf('c'));
    await journal.cancel(instance(2), 'c', 'a\0b');
    await journal.close();
    const { imported, problems } = await importFiles(ids, database, 'ids');
    expect(imported).toBe(2);
    expect(problems.map(({ message }) => message)).toEqual([
      'Agent coder, instance "k1": PostgreSQL cannot keep the text "a\\u0000b"',
    ]);
    const context = { database, swarm: 'ids', node: 'one', mayRepeat: () => false };
    const inbox = new PostgresInbox(context);
    for (const id of ['a', 'b', 'c'])
      expect(await inbox.accept(instance(0), eventOf(id))).toEqual({ accepted: true, duplicate: true });
    expect(await inbox.accept(instance(0), eventOf('d'))).toEqual({ accepted: true, duplicate: false, seq: 4 });
    expect(await inbox.pendingEntries(instance(2))).toMatchObject([{ seq: 1, cancelled: 'a\ufffdb' }]);
  });

  test('fills the row of an instance that a node has only claimed', async () => {
    const epoch = await claimInstance(database, 'claimed', instance(0), 'one');
    expect(await importFiles(place, database, 'claimed')).toMatchObject({ imported: 6, problems: [] });
    const log = new PostgresLog({ database, swarm: 'claimed', node: 'one', mayRepeat: () => false });
    expect(await log.load(instance(0))).toMatchObject({ epoch, checkpoint: expect.stringContaining('"version":1') });
    const frame = { seq: 1, last: 1, line: '{}', isDurable: true };
    expect(await codeOf(log.append(instance(0), epoch, frame))).toBe('E_FENCED');
  });

  test('moves a long archive in several statements', async () => {
    const long = { stateRoot, workspaceId: 'long' };
    const journal = await durableStore(long);
    const owner = instance(0);
    for (let index = 0; index < 9; index += 1) {
      const turnId = `turn-${index}`;
      const { epoch } = await journal.open(owner, turnId);
      const messages = [1, 2].map((part) =>
        createAssistantMessage('x'.repeat(600_000), {}, { id: `${turnId}.${part}`, createdAt: new Date(1) }),
      );
      for (const [at, message] of messages.entries()) {
        const record = { type: 'message', event: { type: 'append', message }, author: { kind: 'model' } } as const;
        await journal.append(owner, epoch, at, [record]);
      }
      const result = { turnId, finishReason: 'text_response' } as const;
      await journal.commit(owner, epoch, turnId, { type: 'append', messages }, {}, result);
    }
    await journal.close();
    const counted = countStatements(database);
    expect(await importFiles(long, counted, 'long')).toMatchObject({ imported: 1, problems: [] });
    expect(counted.take().filter((statement) => statement.startsWith('insert into gdn_archive')).length).toBe(2);
    expect(await linesInDatabase('long', owner)).toEqual(linesInFiles('long', owner));
    const rows = await database.query<{ swarm: string; lines: string }>(
      `select swarm, lines from gdn_archive where swarm like 'long%'`,
    );
    expect(rows.length).toBe(9);
    for (const { swarm, lines } of rows) {
      expect(swarm).toBe('long');
      // The history may lose its oldest rows, and a turn must not be in two of them.
      expect(lines.split('\n').at(-1)).toContain('"commit":');
    }
    expect(await importFiles(long, database, 'long')).toMatchObject({ skipped: 1, problems: [] });
  }, 60_000);

  test('names a damaged instance, and copies the others', async () => {
    const { events } = instancePaths(`${stateRoot}/workspaces/few`, instance(3));
    const intact = readFileSync(events);
    writeFileSync(events, intact.toString('latin1').replace('reply', 'rep1y'), 'latin1');
    const { imported, problems } = await importFiles(place, database, 'damaged');
    expect(imported).toBe(5);
    expect(problems.map(({ code, message }) => `${code} ${message.slice(0, 29)}`)).toEqual([
      'E_STORE_CORRUPT Agent coder, instance "k3": /',
    ]);
    writeFileSync(events, intact);
  });

  test('is refused while the swarm runs, and where no swarm ever ran', async () => {
    const { joinFiles } = await import('../../../runtime/src/store/files/file-placement.ts');
    const placement = await joinFiles(place, { swarm: 'few', runTag: 'tag' });
    expect(await codeOf(importFiles(place, database, 'running'))).toBe('E_SWARM_RUNNING');
    await placement.leave();
    expect(await codeOf(importFiles({ ...place, workspaceId: 'nothing' }, database, 'nothing'))).toBe(
      'E_SWARM_UNKNOWN',
    );
    expect(readdirSync(`${stateRoot}/workspaces`)).not.toContain('nothing');
  });
});
