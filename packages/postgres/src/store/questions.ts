/**
 * Questions in PostgreSQL. Every change also adds a numbered row of `gdn_approval_change`. The number is given under a
 * lock of the swarm's row, so changes are committed in the order of their numbers, and every node tells its listeners all
 * of them in this order. A node reads new rows each second, and at once after a wake-up.
 */
import { type AgentAddress, GoondanError } from '@goondan/types';
import {
  type AnsweredQuestion,
  type QuestionRecord,
  type QuestionStore,
  readQuestions,
} from '@goondan/runtime/history';
import type { Row, Value } from '../driver/database.ts';
import type { Query } from '../driver/repeat.ts';
import { queryOf, type StoreContext } from './store-context.ts';

type QuestionListener = Parameters<QuestionStore['onChange']>[0];

const SCAN_MS = 1000;
/** The number of changes that are kept for nodes that have not read them. */
const KEPT_CHANGES = 1000;

export class PostgresQuestions implements QuestionStore {
  readonly #query: Query;
  readonly #listeners = new Set<QuestionListener>();
  readonly #timer: ReturnType<typeof setInterval>;
  readonly #statements: ReturnType<typeof statementsOf>;
  #reading: Promise<void> | undefined;
  #isAgain = false;
  #isClosed = false;

  private constructor(
    private readonly context: StoreContext,
    scanMs: number,
    /** The number of the last change that was told. */
    private last: number,
    /** The ids of the requests after that change. */
    private known: Set<string>,
    private readonly decode: Decode,
  ) {
    this.#query = queryOf(context);
    this.#statements = statementsOf(context.channel);
    this.#timer = setInterval(() => this.changed(), scanMs);
    this.#timer.unref?.();
  }

  /** Opens the questions of a swarm. Changes are told from this moment on. **Errors** — those of a query. */
  static async open(
    context: StoreContext,
    { scanMs = SCAN_MS, report }: QuestionsOptions = {},
  ): Promise<PostgresQuestions> {
    const { last, rows } = await readState(queryOf(context), context.swarm);
    return new PostgresQuestions(context, scanMs, last, new Set(rows.map(({ id }) => id)), decoder(context, report));
  }

  async list(at?: AgentAddress): Promise<readonly QuestionRecord[]> {
    const { swarm } = this.context;
    const rows = await (at === undefined
      ? this.#query<QuestionRow>(LIST, [swarm])
      : this.#query<QuestionRow>(LIST_OF_INSTANCE, [swarm, at.agentName, at.instanceKey]));
    return this.decode(rows);
  }

  async put(record: QuestionRecord): Promise<void> {
    await this.#change(this.#statements.put, questionValues(record));
  }

  async answer(record: AnsweredQuestion): Promise<boolean> {
    for (;;) {
      const answered = await this.#change<AnswerOutcome>(this.#statements.answer, [record.id, JSON.stringify(record)]);
      // A run of the statement whose answer was lost may have stored the same record.
      if (answered?.is_done === true || answered?.is_same === true) return true;
      if (answered?.is_answered !== false) return false;
      // The request was answered or removed while this answer waited for the row. The next run sees it.
    }
  }

  async findRemoved(id: string): Promise<QuestionRecord | undefined> {
    const [found] = await this.#query<{ record: string }>(REMOVED, [this.context.swarm, id]);
    return found && this.decode([{ id, record: found.record }])[0];
  }

  async remove(id: string): Promise<void> {
    await this.#change(this.#statements.remove, [id, null]);
  }

  onChange(listener: QuestionListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Reads new changes now, because another node says that there are some. Never rejects. */
  changed(): void {
    if (this.#isClosed) return;
    this.#isAgain = true;
    this.#reading ??= this.#readAll().finally(() => {
      this.#reading = undefined;
    });
  }

  /** Rejects every later write. */
  async close(): Promise<void> {
    this.#isClosed = true;
    clearInterval(this.#timer);
    await this.#reading;
  }

  async #change<Outcome extends Row = Row>(
    statement: string,
    values: readonly [id: string, record: Value, ...columns: Value[]],
  ): Promise<Outcome | undefined> {
    if (this.#isClosed) throw new GoondanError('E_SWARM_STOPPED', 'The swarm is stopped: nothing can be answered.');
    const [outcome] = await this.#query<Outcome>(statement, [this.context.swarm, ...values]);
    this.changed();
    await this.#reading;
    return outcome;
  }

  async #readAll(): Promise<void> {
    while (this.#isAgain && !this.#isClosed) {
      this.#isAgain = false;
      try {
        // A scan that fails is repeated by the next one.
        await this.#readChanges();
      } catch (error) {
        if (!GoondanError.is(error)) throw error;
      }
    }
  }

  async #readChanges(): Promise<void> {
    const rows = await this.context.database.query<ChangeRow>(CHANGES, [this.context.swarm, this.last]);
    const [first] = rows;
    // This node was away for so long that changes were removed before it read them.
    if (first !== undefined && first.number > this.last + 1) return this.#readState();
    for (const { number, id, record } of rows) {
      this.last = number;
      if (record === null) this.#tell(id);
      for (const read of record === null ? [] : this.decode([{ id, record }])) this.#tell(id, read);
    }
    if (rows.length === KEPT_CHANGES) this.#isAgain = true;
  }

  /** Tells the state instead of the changes. */
  async #readState(): Promise<void> {
    const { last, rows } = await readState(this.#query, this.context.swarm);
    const ids = new Set(rows.map(({ id }) => id));
    const gone = [...this.known].filter((id) => !ids.has(id));
    this.last = last;
    for (const id of gone) this.#tell(id);
    for (const record of this.decode(rows)) this.#tell(record.id, record);
  }

  #tell(id: string, record?: QuestionRecord): void {
    if (record) this.known.add(id);
    else this.known.delete(id);
    for (const listener of this.#listeners) listener(id, record);
  }
}

/**
 * Returns the values $2 to $6 of a request: its id, its text, and the columns by which it is found. SQL never reads the
 * text, because PostgreSQL refuses to look into JSON with a NUL or with half of a surrogate pair, which every input may have.
 */
export function questionValues(record: QuestionRecord) {
  const { id, agent, instanceKey, expiresAt } = record;
  return [id, JSON.stringify(record), agent, instanceKey, expiresAt] as const;
}

interface QuestionsOptions {
  readonly scanMs?: number;
  /** Gets each row that is not a question of this version. */
  readonly report?: (problem: GoondanError) => void;
}

type QuestionRow = Readonly<{ id: string; record: string }>;
type Decode = (rows: readonly QuestionRow[]) => readonly QuestionRecord[];
type ChangeRow = Readonly<{ number: number; id: string; record: string | null }>;
/** `is_answered`: null if the request was removed. */
type AnswerOutcome = Readonly<{ is_done: boolean; is_same: boolean; is_answered: boolean | null }>;

async function readState(query: Query, swarm: string) {
  const rows = await query<{ last: number | null; id: string | null; record: string | null }>(STATE, [swarm]);
  const found = rows.flatMap(({ id, record }) => (id === null || record === null ? [] : [{ id, record }]));
  return { last: rows[0]?.last ?? 0, rows: found };
}

/** Returns the function that reads rows. Each row that is not a question is left out, and reported once. */
function decoder({ swarm }: StoreContext, report: QuestionsOptions['report'] = () => undefined): Decode {
  const reported = new Set<string>();
  return (rows) => {
    const stored = rows.map(({ id, record }) => ({ id, value: parse(record) }));
    return readQuestions(stored, `gdn_approval of the swarm "${swarm}"`, (problem) => {
      if (reported.has(problem.message)) return;
      reported.add(problem.message);
      report(problem);
    });
  };
}

function parse(record: string): unknown {
  try {
    return JSON.parse(record);
  } catch {
    return undefined;
  }
}

const LIST = 'select id, record from gdn_approval where swarm = $1 order by place';

const LIST_OF_INSTANCE = `
select id, record from gdn_approval where swarm = $1 and agent = $2 and key = $3 order by place`;

const STATE = `
select (select approval_changes from gdn_swarm where swarm = $1) as last, kept.id, kept.record
from (select 1) as one left join gdn_approval as kept on kept.swarm = $1 order by kept.place`;

const REMOVED = `
select record from gdn_approval_change where swarm = $1 and id = $2 and record is not null
  and not exists (select from gdn_approval where swarm = $1 and id = $2) order by number desc limit 1`;

const CHANGES = `
select number, id, record from gdn_approval_change where swarm = $1 and number > $2 order by number limit ${KEPT_CHANGES}`;

/** $1 swarm, $2 id, $3 record. `done`: the rows that changed. */
const TOLD = `numbered as (
  insert into gdn_swarm as row (swarm, approval_changes) select $1, 1 from done
  on conflict (swarm) do update set approval_changes = row.approval_changes + 1
  returning approval_changes as number
), told as (
  insert into gdn_approval_change (swarm, number, id, record) select $1, number, $2, $3::text from numbered
), forgotten as (
  delete from gdn_approval_change as old using numbered
  where old.swarm = $1 and old.number <= numbered.number - ${KEPT_CHANGES}
)`;

/** Without a channel, the other nodes find a change by their scans only. */
function statementsOf(channel: string | undefined) {
  const hint = channel === undefined ? 'null::text' : `pg_notify('${channel}', '["approval"]')`;
  const woken = `(select count(${hint}) from numbered) as woken`;
  return {
    put: `
with done as (
  insert into gdn_approval as kept (swarm, id, record, agent, key, expires_at) values ($1, $2, $3, $4, $5, $6::text::timestamptz)
  on conflict (swarm, id) do update set record = excluded.record, expires_at = excluded.expires_at
    where not kept.is_answered and kept.record <> excluded.record
  returning 1
), ${TOLD}
select ${woken}`,
    answer: `
with done as (
  update gdn_approval set record = $3, is_answered = true where swarm = $1 and id = $2 and not is_answered returning 1
), ${TOLD}
select exists (select from done) as is_done, seen.is_answered, ${woken},
  exists (select from gdn_approval_change as kept where kept.swarm = $1 and kept.id = $2 and kept.record = $3) as is_same
from (select 1) as one left join gdn_approval as seen on seen.swarm = $1 and seen.id = $2`,
    remove: `
with done as (delete from gdn_approval where swarm = $1 and id = $2 returning 1), ${TOLD}
select ${woken}`,
  };
}
