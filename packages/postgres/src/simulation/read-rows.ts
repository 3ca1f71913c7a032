/** Reads the rows of a swarm, to compare two moments. */
import type { Database } from '../driver/database.ts';

/** The rows as texts. Rows of input and answers are apart, because any node may add input and remove fetched answers. */
export interface SwarmRowTexts {
  readonly owned: readonly string[];
  readonly input: readonly string[];
  readonly answers: readonly string[];
}

interface TextRow extends Readonly<Record<string, unknown>> {
  readonly kind: keyof SwarmRowTexts;
  readonly line: string;
}

const READ = `
select 'owned' as kind, row('instance', agent, key, owner, epoch, handled, last_seq, version, messages, letters,
  checkpoint, checkpoint_seq, history_start)::text as line from gdn_instance where swarm = $1
union all select 'owned', row('frame', agent, key, seq, last, line)::text from gdn_frame where swarm = $1
union all select 'owned', row('base', agent, key, part, lines)::text from gdn_base where swarm = $1
union all select 'owned', row('archive', agent, key, seq, lines)::text from gdn_archive where swarm = $1
union all select 'owned', row('connection', connection, owner, epoch, folder)::text from gdn_connection where swarm = $1
union all select 'input', row(agent, key, seq, event_id, event, cancelled, began, pending)::text from gdn_inbox
  where swarm = $1
union all select 'answers', row(agent, key, event_id, seq, reply)::text from gdn_answer where swarm = $1
order by 1, 2`;

export async function readRows(database: Pick<Database, 'query'>, swarm: string): Promise<SwarmRowTexts> {
  const rows = await database.query<TextRow>(READ, [swarm]);
  const of = (wanted: string) => rows.filter(({ kind }) => kind === wanted).map(({ line }) => line);
  return { owned: of('owned'), input: of('input'), answers: of('answers') };
}

/** Checks that a node without its lease changed nothing that belongs to the owner. Throws otherwise. */
export function checkUntouched(before: SwarmRowTexts, after: SwarmRowTexts): void {
  const changed = [
    ...without(before.owned, after.owned),
    ...without(after.owned, before.owned),
    ...without(before.input, after.input),
    ...without(after.answers, before.answers),
  ];
  if (changed.length > 0) throw new Error(`a node without its lease changed ${changed.join('; ').slice(0, 600)}`);
}

function without(rows: readonly string[], others: readonly string[]): readonly string[] {
  return rows.filter((row) => !others.includes(row));
}

/** Ends the leases of all nodes but one, as their time would. */
export async function endLeases(database: Pick<Database, 'query'>, swarm: string, but = ''): Promise<void> {
  await database.query(
    `update gdn_node set lease_until = clock_timestamp() - interval '1 second' where swarm = $1 and id <> $2`,
    [swarm, but],
  );
}

/** Checks the columns that no reader shows: every number of input is handled, and its bytes are free. */
export async function checkCounts(database: Pick<Database, 'query'>, swarm: string): Promise<void> {
  const wrong = await database.query(
    `select agent, key, last_input, handled, pending_bytes from gdn_instance
where swarm = $1 and (last_input <> handled or pending_bytes <> 0
  or last_input <> (select count(*) from gdn_inbox b where b.swarm = $1 and b.agent = gdn_instance.agent and b.key = gdn_instance.key))`,
    [swarm],
  );
  if (wrong.length > 0) throw new Error(`counts of input: ${JSON.stringify(wrong)}`);
}
