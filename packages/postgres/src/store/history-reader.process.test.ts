import { beforeEach, describe, expect, test } from '../testing/with-postgres.ts';
import { type ArchivedTurn, readHistory } from '@goondan/runtime/history';
import { defaultLimits, loggedConversations } from '@goondan/runtime/internal';
import { type AgentAddress, createAssistantMessage } from '@goondan/types';
import { claimInstance } from '../testing/claim-instance.ts';
import { codeOf } from '../testing/code-of.ts';
import { countStatements } from '../testing/count-statements.ts';
import { openTestDatabase } from '../testing/test-database.ts';
import { postgresAnswers } from './answers.ts';
import { PostgresLog } from './conversation-log.ts';
import { readersOf } from './open-reader.ts';
import { trimHistory } from './trim-history.ts';

const swarm = 'read';
let instances = 0;
let instance: AgentAddress;
const database = countStatements((await openTestDatabase()).database);
const reader = readersOf(database, swarm);

beforeEach(() => {
  instance = { agentName: 'coder', instanceKey: `k${++instances}` };
});

/** Runs turns as the owner, and closes the conversation. A checkpoint is written when it has enough frames. */
async function run(from: number, count: number, checkpointBytes = 1e9): Promise<void> {
  const context = { database, swarm, node: 'one', mayRepeat: () => false };
  await claimInstance(database, swarm, instance, 'one');
  const log = new PostgresLog(context);
  const limits = { ...defaultLimits, checkpointBytes };
  const { conversations, close } = loggedConversations(log, postgresAnswers(context), { limits });
  for (let index = from; index < from + count; index += 1) {
    const turnId = `turn-${index}`;
    const { epoch, extensionState } = await conversations.open(instance, turnId);
    const message = createAssistantMessage(`ä ${index}`, {}, { id: `m${index}`, createdAt: new Date(index) });
    const record = { type: 'message', event: { type: 'append', message }, author: { kind: 'model' } } as const;
    const delta = { type: 'append', messages: [message] } as const;
    const result = { turnId, finishReason: 'text_response' } as const;
    const states = { ...extensionState, memo: index };
    await conversations.commit(instance, epoch, turnId, delta, states, result, { at: 0, records: [record] });
  }
  await close();
  await log.close();
}

async function countRows(table: string): Promise<number> {
  const [row] = await database.query<{ count: number }>(
    `select count(*) as count from ${table} where swarm = $1 and key = $2`,
    [swarm, instance.instanceKey],
  );
  return row?.count ?? 0;
}

const versions = (turns: readonly ArchivedTurn[]) => turns.map(({ version }) => version);
const upTo = (count: number) => Array.from({ length: count }, (_, index) => index + 1);

describe('S-08 the history in the store', () => {
  test('is read in pages, also across archived rows and frames', async () => {
    for (let part = 0; part < 5; part += 1) await run(part * 40, 40, 1000);
    await run(200, 10);
    expect(await countRows('gdn_archive')).toBeGreaterThan(4);
    expect(await countRows('gdn_frame')).toBeGreaterThan(5);
    database.take();
    const { turns } = await reader.history.history(instance);
    expect(database.take()).toHaveLength(1);
    expect(versions(await Array.fromAsync(turns))).toEqual(upTo(210));
    expect(database.take().length).toBeGreaterThan(1);
    const { messages, version, extensionState } = await reader.history.read(instance);
    expect({ messages: messages.length, version, extensionState }).toEqual({
      messages: 210,
      version: 210,
      extensionState: { memo: 209 },
    });
    expect(await readHistory(reader.history, instance, { limit: 1 })).toMatchObject({ first: 1, last: 210 });
  });

  test('says that it was shortened while it was read, and skips no turn', async () => {
    for (let part = 0; part < 5; part += 1) await run(part * 40, 40, 1000);
    expect(await countRows('gdn_archive')).toBeGreaterThan(4);
    const { turns } = await reader.history.history(instance);
    const epoch = await claimInstance(database, swarm, instance, 'one');
    const seen: ArchivedTurn[] = [];
    const readAll = async () => {
      for await (const turn of turns) {
        if (seen.push(turn) > 1) continue;
        await trimHistory({ database, swarm, node: 'one', mayRepeat: () => false }, instance, epoch, 1);
        expect(await countRows('gdn_archive')).toBe(0);
      }
    };
    expect(await codeOf(readAll())).toBe('E_STORE_READ');
    expect(versions(seen)).toEqual(upTo(seen.length));
    expect(seen.length).toBeGreaterThan(1);
  });

  test('is whole although its owner moves the frames to the archive meanwhile, and goes on', async () => {
    await claimInstance(database, swarm, instance, 'one');
    // More frames than a page has, and no checkpoint: the process was killed.
    const context = { database, swarm, node: 'one', mayRepeat: () => false };
    const log = new PostgresLog(context);
    const { conversations } = loggedConversations(log, postgresAnswers(context), {
      limits: { ...defaultLimits, checkpointBytes: 1e9 },
    });
    for (let index = 0; index < 300; index += 1) {
      const turnId = `turn-${index}`;
      const { epoch } = await conversations.open(instance, turnId);
      const result = { turnId, finishReason: 'text_response' } as const;
      await conversations.commit(instance, epoch, turnId, { type: 'append', messages: [] }, {}, result);
    }
    await log.close();
    expect(await countRows('gdn_frame')).toBeGreaterThan(300);
    const { turns } = await reader.history.history(instance);
    const seen: ArchivedTurn[] = [];
    for await (const turn of turns) {
      seen.push(turn);
      if (seen.length === 10) {
        await run(300, 5, 1);
        expect(await countRows('gdn_frame')).toBeLessThan(10);
      }
    }
    expect(versions(seen)).toEqual(upTo(305));
  });

  test('of an instance that does not exist is empty', async () => {
    expect(await reader.history.read(instance)).toEqual({
      version: 0,
      stateVersion: 0,
      messages: [],
      extensionState: {},
    });
    expect(await Array.fromAsync(reader.history.archive(instance))).toEqual([]);
    expect(await reader.history.pending(instance)).toEqual([]);
    expect(await reader.deadLetters.list(instance)).toEqual([]);
  });

  test('says which part is damaged or missing', async () => {
    await run(0, 10);
    const collect = async () => void (await Array.fromAsync(reader.history.archive(instance)));
    const change = (statement: string) => database.query(statement, [swarm, instance.instanceKey]);
    await change('update gdn_instance set version = 11 where swarm = $1 and key = $2');
    expect(await collect().catch(String)).toBe(
      `GoondanError: The log of agent coder, instance "${instance.instanceKey}" is damaged: it ends after commit 10, and there were 11`,
    );
    const unchecked: string[] = [];
    const { turns } = await reader.history.history(instance, ({ code }) => unchecked.push(code));
    expect(versions(await Array.fromAsync(turns))).toEqual(upTo(10));
    expect(unchecked).toEqual(['E_STORE_CORRUPT']);
    await change('delete from gdn_frame where swarm = $1 and key = $2 and seq = 8');
    expect(await codeOf(collect())).toBe('E_STORE_CORRUPT');
    expect(await reader.history.readIntact(instance)).toMatchObject({
      extensionState: {},
      problems: [expect.objectContaining({ code: 'E_STORE_CORRUPT' })],
    });
    await change(`update gdn_instance set history_start = 'x' where swarm = $1 and key = $2`);
    expect(await codeOf(reader.history.history(instance))).toBe('E_STORE_CORRUPT');
  });
});
