/**
 * The ground under the other proofs: a commit that Patroni's database has acknowledged is there after the primary was
 * killed, and after it was parted from the others. No Goondan is involved but its driver.
 */
import { type Database, openDatabase } from '../../packages/postgres/src/driver/database.ts';
import { WORLD_FOLDER } from './enter-world.ts';
import { makeNetwork } from './network.ts';
import { startPatroni } from './patroni.ts';
import type { Findings, Proof, ProofContext } from './proof.ts';

export const proveReplication: Proof = { name: 'replication', needsWorld: true, run };

const COMMITS_AFTER = 20;
const AWAY_LIMIT_MS = 60_000;

async function run({ say }: ProofContext): Promise<Findings> {
  const replicated = await startPatroni(makeNetwork(), `${WORLD_FOLDER}/replication`);
  const database = openDatabase(replicated.address, { connections: 2 });
  const figures: Record<string, number> = {};
  const problems: string[] = [];
  const writer = startWriter(database);
  try {
    await writer.next(COMMITS_AFTER);
    for (const failure of ['killed', 'parted'] as const) {
      const { primary } = await replicated.waitForPrimary();
      const failedAt = performance.now();
      if (failure === 'killed') await primary.kill();
      else primary.machine.cutCable();
      await writer.next(COMMITS_AFTER);
      figures[`ms without commits, primary ${failure}`] = Math.round(performance.now() - failedAt);
      const successor = await replicated.waitForPrimary(primary);
      say(`${primary.machine.name} ${failure}, ${successor.primary.machine.name} is the primary`);
      if (failure === 'killed') primary.start();
      else primary.machine.mendCable();
      await replicated.waitForStandby();
    }
  } finally {
    await writer.end();
  }
  const rows = new Set((await database.query<{ id: number }>('select id from proof_commit')).map(({ id }) => id));
  const lost = writer.acknowledged.filter((id) => !rows.has(id));
  if (lost.length > 0) problems.push(`acknowledged and lost: ${lost.slice(0, 10).join(', ')}`);
  await database.close();
  await replicated.stop();
  return { figures: { ...figures, acknowledged: writer.acknowledged.length, lost: lost.length }, problems };
}

interface Writer {
  readonly acknowledged: readonly number[];
  /** Waits for so many more commits. */
  next(count: number): Promise<void>;
  end(): Promise<void>;
}

/** Commits one row after the other, and repeats each one until it is acknowledged. */
function startWriter(database: Database): Writer {
  const acknowledged: number[] = [];
  const over = new AbortController();
  const write = async (statement: string, values: readonly number[] = []) => {
    const deadline = performance.now() + AWAY_LIMIT_MS;
    for (;;) {
      try {
        await database.query(statement, values);
        return;
      } catch (error) {
        if (over.signal.aborted || performance.now() > deadline) throw error;
        await Bun.sleep(50);
      }
    }
  };
  const writing = (async () => {
    await write('create table if not exists proof_commit (id integer primary key)');
    for (let id = 1; !over.signal.aborted; id++) {
      await write('insert into proof_commit (id) values ($1) on conflict do nothing', [id]);
      acknowledged.push(id);
    }
  })();
  writing.catch(() => undefined);
  return {
    acknowledged,
    async next(count) {
      const wanted = acknowledged.length + count;
      const deadline = performance.now() + AWAY_LIMIT_MS;
      while (acknowledged.length < wanted) {
        if (performance.now() > deadline) throw new Error('The database acknowledges no commits.');
        await Bun.sleep(20);
      }
    },
    async end() {
      over.abort();
      await writing.catch(() => undefined);
    },
  };
}
