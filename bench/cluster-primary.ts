/**
 * Measures what one database can take, without nodes: many conversations, each with the two statements of a one-step
 * turn. The processor time of the database for a turn says where one primary ends, and the bytes of its log say what
 * replication has to carry.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import { type Database, openDatabase } from '../packages/postgres/src/driver/database.ts';
import { makeTables } from '../packages/postgres/src/schema/make-tables.ts';
import { PostgresLog } from '../packages/postgres/src/store/conversation-log.ts';
import { PostgresInbox } from '../packages/postgres/src/store/inbox.ts';
import { claimInstance } from '../packages/postgres/src/testing/claim-instance.ts';
import { withDescendants } from '../test/cluster/disturb.ts';
import { startOwnDatabase } from '../test/cluster/own-database.ts';
import { print } from './cluster-nodes.ts';
import type { Figures } from './figures.ts';
import { processorMs } from './process-use.ts';

const CONVERSATIONS = 64;
const WARM_UPS = 5;
const TURNS = 60;
/** The bytes of the frame of a one-step turn, as `npm run bench -- turn` counts them. */
const FRAME_BYTES = 1_500;
const KILOBYTE = 1_024;

export async function measurePrimary(): Promise<Figures> {
  for (const connections of [8, 32]) {
    await using server = await startOwnDatabase();
    const database = openDatabase(server.address, { connections, statementMs: 60_000 });
    await makeTables(database);
    const conversations = await openConversations(database);
    const run = (from: number, turns: number) => Promise.all(conversations.map((turn) => turn(from, turns)));
    await run(0, WARM_UPS);
    const usedBefore = useOf(server.pid);
    const logBefore = await logPosition(database);
    const startedAt = performance.now();
    await run(WARM_UPS, TURNS);
    const seconds = (performance.now() - startedAt) / 1_000;
    const turns = CONVERSATIONS * TURNS;
    const used = (useOf(server.pid) - usedBefore) / turns;
    const logged = ((await logPosition(database)) - logBefore) / turns / KILOBYTE;
    await database.close();
    print(`one database, ${connections} connections, turns a second (2 commits each)`, (turns / seconds).toFixed(0));
    print('  processor time and log of a turn', `${used.toFixed(2)} ms, ${logged.toFixed(1)} KB`);
  }
  return {};
}

type Turns = (from: number, turns: number) => Promise<void>;

/** Each conversation has one turn at a time. */
async function openConversations(database: Database): Promise<readonly Turns[]> {
  const context = { database, swarm: 'bench', node: 'node', mayRepeat: () => false };
  const log = new PostgresLog(context);
  const inbox = new PostgresInbox(context);
  const opened: Turns[] = [];
  for (let number = 0; number < CONVERSATIONS; number++) {
    const instance: AgentAddress = { agentName: 'echo', instanceKey: `key-${number}` };
    const epoch = await claimInstance(database, 'bench', instance, 'node');
    await log.load(instance);
    opened.push(async (from, turns) => {
      for (let turn = from; turn < from + turns; turn++) {
        const { seq: handled = turn + 1 } = await inbox.accept(instance, eventOf(`${instance.instanceKey}-${turn}`));
        const commit = { version: turn + 1, messages: 2, deadLetters: 0, updatedAt: Date.now(), handled };
        const seq = turn + 1;
        await log.append(instance, epoch, { seq, last: seq, line: LINE, isDurable: true, commit });
      }
    });
  }
  return opened;
}

const LINE = JSON.stringify({ text: 'x'.repeat(FRAME_BYTES) });

function eventOf(id: string): AgentEvent {
  const source = { kind: 'cli', name: 'bench' } as const;
  return { id, type: 'user.message', input: 'Hello', instanceKey: '', source, traceId: id, createdAt: new Date() };
}

function useOf(pid: number): number {
  return withDescendants(pid).reduce((total, each) => total + processorMs(each), 0);
}

async function logPosition(database: Database): Promise<number> {
  const [row] = await database.query<{ position: number }>(
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as position`,
  );
  return row?.position ?? 0;
}
