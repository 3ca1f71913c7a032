/**
 * Exports one conversation as a JSON document, written piece by piece: readers need no special format, and the whole
 * document is never held in memory. The history, which grows without limit, comes last and is read turn by turn. Each
 * message and each event has its own line.
 *
 * `docs/cli.md` lists the fields. Fields may be added, but are never renamed. If the meaning of a field changes,
 * `formatVersion` is increased.
 */
import type { Directory, HistoryReader, StoreReader } from '@goondan/runtime/history';
import { describeDamage, salvageConversation } from '@goondan/runtime/internal';
import { type AgentAddress, type AgentEvent, GoondanError } from '@goondan/types';

const FORMAT_VERSION = 1;

interface Source
  extends Pick<HistoryReader, 'readIntact' | 'history'>, Pick<Directory, 'summary'>, Pick<StoreReader, 'deadLetters'> {
  pending(instance: AgentAddress): Promise<readonly AgentEvent[]>;
}

/** Returns the parts of a store that an export reads. */
export function exportSource({ history, directory, inbox, deadLetters }: StoreReader): Source {
  return {
    readIntact: (at) => history.readIntact(at),
    history: (...question) => history.history(...question),
    summary: (at) => directory.summary(at),
    pending: async (at) => (await inbox.pendingEntries(at)).map(({ event }) => event),
    deadLetters,
  };
}

/** The number of exported parts so far. */
export interface ExportCounts {
  messages: number;
  turns: number;
  /** The reasons why parts are missing or were read from another file; absent when nothing is damaged. */
  problems?: readonly string[];
}

/**
 * Writes `null` for a part that cannot be read, and the reason into `problems`. Messages and states come from the
 * history when their own files are damaged. A damaged history ends before the damage. `history`: if true, includes
 * every committed turn that is still kept.
 *
 * **Errors** — the errors of reading the messages, except `E_STORE_CORRUPT`.
 */
export async function* exportInstance(
  journal: Source,
  { at, history, exportedAt }: { readonly at: AgentAddress; readonly history: boolean; readonly exportedAt: Date },
  counts: ExportCounts = { messages: 0, turns: 0 },
): AsyncGenerator<string> {
  const left = await salvageConversation(journal, at, false);
  const { version, messages, extensionState, unknownStates } = left;
  const problems = new Set(left.problems);
  const { createdAt, updatedAt } = (await readable(journal.summary(at), problems)) ?? {};
  const inputs = await readable(journal.pending(at), problems);
  const deadLetters = await readable(journal.deadLetters.list(at), problems);
  const lost = Object.fromEntries(unknownStates.map((name) => [name, null]));
  counts.messages = messages?.length ?? 0;
  yield* jsonObject({
    formatVersion: FORMAT_VERSION,
    agent: at.agentName,
    instanceKey: at.instanceKey,
    exportedAt,
    createdAt: createdAt ?? null,
    updatedAt: updatedAt ?? null,
    version: version ?? null,
    messages: messages ?? null,
    extensions: version === undefined ? null : { ...extensionState, ...lost },
    inputs: inputs ?? null,
    deadLetters: deadLetters ?? null,
    ...(history ? { history: committedTurns(journal, at, version, counts, problems) } : {}),
    // Written last, because reading the history may add problems.
    problems: () => {
      if (problems.size > 0) counts.problems = [...problems];
      return counts.problems;
    },
  });
}

/** Returns `undefined` when a part is damaged; the intact parts are still exported. */
async function readable<Value>(reading: Promise<Value>, problems: Set<string>): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    addProblem(error, problems);
    return undefined;
  }
}

function addProblem(error: unknown, problems: Set<string>): void {
  if (!GoondanError.is(error)) throw error;
  const problem = describeDamage(error);
  // Skips a problem if the list already has it, together with its consequence.
  if (![...problems].some((each) => each.startsWith(problem))) problems.add(problem);
}

/**
 * Yields the committed turns up to the version of the exported messages, which is `last`, because a running swarm may
 * commit more turns meanwhile. Each event that was not undone has the `number` that `gdn history` shows.
 */
async function* committedTurns(
  journal: Source,
  at: AgentAddress,
  last: number = Number.POSITIVE_INFINITY,
  counts: ExportCounts,
  problems: Set<string>,
) {
  try {
    const { start, turns } = await journal.history(at);
    let { seq: number } = start;
    for await (const turn of turns) {
      if (turn.version > last) return;
      counts.turns += 1;
      const events = turn.events.map((each) => (each.counts ? { ...each, number: ++number } : each));
      yield { ...turn, events };
    }
  } catch (error) {
    addProblem(error, problems);
  }
}

type Entries = readonly unknown[] | AsyncIterable<unknown>;

/**
 * Writes each entry of a list on its own line, and any other value on one line. If a value is a function, it is called
 * when its field is written.
 */
async function* jsonObject(fields: Readonly<Record<string, unknown>>): AsyncGenerator<string> {
  let before = '{\n';
  for (const [name, field] of Object.entries(fields)) {
    const value: unknown = typeof field === 'function' ? field() : field;
    if (value === undefined) continue;
    yield `${before}${JSON.stringify(name)}: `;
    if (isList(value)) yield* jsonList(value);
    else yield JSON.stringify(value);
    before = ',\n';
  }
  yield '\n}\n';
}

async function* jsonList(entries: Entries): AsyncGenerator<string> {
  let before = '[\n';
  for await (const entry of entries) {
    yield `${before}${JSON.stringify(entry)}`;
    before = ',\n';
  }
  yield before === '[\n' ? '[]' : '\n]';
}

function isList(value: unknown): value is Entries {
  return Array.isArray(value) || (typeof value === 'object' && value !== null && Symbol.asyncIterator in value);
}
