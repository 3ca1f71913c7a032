/**
 * Keeps the history of an instance within the policy of files. The turns of the oldest archived lines become a part of
 * the start of the history, in the same statement that removes the lines.
 */
import { type AgentAddress, GoondanError } from '@goondan/types';
import { advanceKeptStart } from '@goondan/runtime/internal';
import { keyOf, ownerQueryOf, SAME_INSTANCE, type StoreContext } from './store-context.ts';

/**
 * Removes archived lines above the limit, oldest first. Lines that are damaged are kept, with all lines after them, because
 * nothing else has their changes. **Errors** — `E_FENCED`, `E_STORE_WRITE`.
 */
export async function trimHistory(
  context: StoreContext,
  instance: AgentAddress,
  epoch: number,
  mostBytes: number,
): Promise<void> {
  const query = ownerQueryOf(context);
  const key = keyOf(context, instance);
  for (;;) {
    const [oldest] = await query<OldestRow>(OLDEST, [...key, mostBytes]);
    if (oldest === undefined) return;
    const { seq, lines, history_start: start } = oldest;
    const advanced = await advance(instance, start, lines);
    if (advanced === undefined) return;
    const [row] = await query<{ is_done: boolean }>(REMOVE, [...key, context.node, epoch, seq, advanced, start]);
    // The next checkpoint goes on.
    if (row?.is_done !== true) return;
  }
}

async function advance(instance: AgentAddress, start: string | null, lines: string): Promise<string | undefined> {
  try {
    return await advanceKeptStart(instance, start ?? undefined, lines.split('\n'));
  } catch (error) {
    if (GoondanError.is(error) && error.code === 'E_STORE_CORRUPT') return undefined;
    throw error;
  }
}

type OldestRow = Readonly<{ seq: number; lines: string; history_start: string | null }>;

/** $4 the most bytes. No row if the lines have fewer bytes. */
const OLDEST = `
select old.seq, old.lines, own.history_start from gdn_instance as own, gdn_archive as old
where own.swarm = $1 and own.agent = $2 and own.key = $3 and old.swarm = $1 and old.agent = $2 and old.key = $3
  and (select sum(octet_length(lines)) from gdn_archive where ${SAME_INSTANCE}) > $4
order by old.seq limit 1`;

/** $4 owner, $5 epoch, $6 number, $7 new start, $8 old start. A start that another run has advanced is not changed. */
const REMOVE = `
with own as (
  update gdn_instance set history_start = $7::text
  where ${SAME_INSTANCE} and owner = $4 and epoch = $5 and history_start is not distinct from $8::text
  returning 1
), removed as (
  delete from gdn_archive as old using own where old.swarm = $1 and old.agent = $2 and old.key = $3 and old.seq = $6
)
select exists (select from own) as is_done`;
