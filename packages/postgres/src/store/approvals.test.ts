import { afterAll, describe, expect, test } from 'bun:test';
import { approvalConformance } from '@goondan/runtime/testing';
import { openDatabase } from '../driver/database.ts';
import { makeTestDatabase } from '../testing/test-database.ts';
import { PostgresApprovals } from './approvals.ts';

const made = await makeTestDatabase();
const database = openDatabase(made.address);
let swarms = 0;

afterAll(async () => {
  await database.close();
  await made.drop();
});

function contextOf(swarm: string) {
  return { database, swarm, node: 'one', mayRepeat: () => false };
}

describe('approvals in PostgreSQL conform', () => {
  approvalConformance(test, async () => {
    const swarm = `swarm ${++swarms}`;
    const opened: PostgresApprovals[] = [];
    const open = async () => {
      const approvals = await PostgresApprovals.open(contextOf(swarm), { scanMs: 20 });
      opened.push(approvals);
      return approvals;
    };
    const seamsOf = async () => ({ approvals: await open(), elsewhere: open });
    return {
      seams: await seamsOf(),
      again: seamsOf,
      end: async () => void (await Promise.all(opened.map((each) => each.close()))),
    };
  });
});

test('a node that was away for more changes than are kept is told the difference', async () => {
  const record = (id: string, reason: string) => ({ id, reason }) as never;
  const swarm = `swarm ${++swarms}`;
  const [writer, away] = [
    await PostgresApprovals.open(contextOf(swarm), { scanMs: 1e6 }),
    await PostgresApprovals.open(contextOf(swarm), { scanMs: 1e6 }),
  ];
  await writer.put(record('gone', 'first'));
  const told: string[] = [];
  away.onChange((id, kept) => void told.push(`${id} ${kept?.reason ?? 'removed'}`));
  away.changed();
  await until(() => told.length === 1);
  await writer.put(record('kept', 'never told'));
  await writer.remove('gone');
  await database.query(`delete from gdn_approval_change where swarm = $1`, [swarm]);
  await writer.put(record('kept', 'last'));
  away.changed();
  await until(() => told.length >= 3);
  expect(told).toEqual(['gone first', 'gone removed', 'kept last']);
  await writer.close();
  await away.close();
});

async function until(isTrue: () => boolean): Promise<void> {
  for (let attempt = 0; attempt < 500 && !isTrue(); attempt += 1) await Bun.sleep(10);
}
