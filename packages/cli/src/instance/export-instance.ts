/**
 * Everything of one conversation as one JSON document, written bit by bit: whoever reads it needs no format of ours, and
 * nobody needs room for all of it. What grows without end, the history, comes last and is read turn by turn; of the
 * messages and of each turn every entry has a line of its own.
 *
 * `docs/cli.md` has the fields. They are added, never renamed; what changes its meaning raises `formatVersion`.
 */
import type { Journal } from '@goondan/runtime';
import { type AgentAddress, GoondanError } from '@goondan/types';

const FORMAT_VERSION = 1;

type Source = Pick<Journal, 'read' | 'summary' | 'pending' | 'deadLetters' | 'archive'>;

export interface ExportRequest {
  readonly at: AgentAddress;
  /** With every committed turn that is still kept. */
  readonly history: boolean;
  readonly exportedAt: Date;
}

/** How much was given so far. */
export interface ExportCounts {
  messages: number;
  turns: number;
  /** Why parts of it are missing; absent when none is. */
  problems?: readonly string[];
}

/**
 * A part besides the messages that cannot be read is `null`, and `problems` says why.
 *
 * **Errors** — those of reading the messages; in the history, after giving what comes before the damage.
 */
export async function* exportInstance(
  journal: Source,
  { at, history, exportedAt }: ExportRequest,
  counts: ExportCounts = { messages: 0, turns: 0 },
): AsyncGenerator<string> {
  const { version, messages, extensionState } = await journal.read(at);
  const problems: string[] = [];
  const { createdAt, updatedAt } = (await readable(journal.summary(at), problems)) ?? {};
  const inputs = await readable(journal.pending(at), problems);
  const deadLetters = await readable(journal.deadLetters.list(at), problems);
  counts.messages = messages.length;
  if (problems.length > 0) counts.problems = [...new Set(problems)];
  yield* jsonObject({
    formatVersion: FORMAT_VERSION,
    agent: at.agentName,
    instanceKey: at.instanceKey,
    exportedAt,
    createdAt: createdAt ?? null,
    updatedAt: updatedAt ?? null,
    version,
    messages,
    extensions: extensionState,
    inputs: inputs ?? null,
    deadLetters: deadLetters ?? null,
    ...(counts.problems === undefined ? {} : { problems: counts.problems }),
    ...(history ? { history: committedTurns(journal, at, version, counts) } : {}),
  });
}

/** `undefined` when it is damaged: what is intact is given all the same. */
async function readable<Value>(reading: Promise<Value>, problems: string[]): Promise<Value | undefined> {
  try {
    return await reading;
  } catch (error) {
    if (!(error instanceof GoondanError)) throw error;
    problems.push(`${error.code}: ${error.message}`);
    return undefined;
  }
}

/** Up to the version of the messages: the swarm may be at work meanwhile. */
async function* committedTurns(journal: Source, at: AgentAddress, last: number, counts: ExportCounts) {
  for await (const turn of journal.archive(at)) {
    if (turn.version > last) return;
    counts.turns += 1;
    yield turn;
  }
}

type Entries = readonly unknown[] | AsyncIterable<unknown>;

/** Lists get a line for each entry, everything else one line. */
async function* jsonObject(fields: Readonly<Record<string, unknown>>): AsyncGenerator<string> {
  let before = '{\n';
  for (const [name, value] of Object.entries(fields)) {
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
