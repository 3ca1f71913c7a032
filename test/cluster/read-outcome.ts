/**
 * Reads everything that a swarm has kept: transcripts, history, traces, pending input. Times, process ids, nodes and
 * made ids are replaced, so that two runs of the same work can be compared.
 */
import { readHistory, type StoreReader } from '@goondan/runtime/history';
import type { AgentAddress } from '@goondan/types';

export interface Outcome {
  /** For each conversation, by its name. */
  readonly conversations: Readonly<Record<string, KeptConversation>>;
  /** The traces of the turns that people began, in the order of their event ids. */
  readonly traces: readonly unknown[];
}

export interface KeptConversation {
  readonly transcript: unknown;
  readonly state: unknown;
  readonly history: unknown;
  readonly pending: number;
  readonly deadLetters: number;
}

/** Reads the conversations; with a prefix, only those whose instance key begins with it, and no traces. */
export async function readOutcome(reader: StoreReader, prefix = ''): Promise<Outcome> {
  const all = (await reader.directory.instances()).filter(({ instanceKey }) => instanceKey.startsWith(prefix));
  const instances = all.toSorted((one, other) => nameOf(one).localeCompare(nameOf(other)));
  const conversations: Record<string, KeptConversation> = {};
  for (const instance of instances) {
    const { messages, extensionState, ...rest } = await reader.history.read(instance);
    conversations[nameOf(instance)] = {
      transcript: normalise(messages),
      state: normalise({ extensionState, rest }),
      history: normalise(await readHistory(reader.history, instance, { limit: 1000 })),
      pending: (await reader.inbox.pendingEntries(instance)).length,
      deadLetters: (await reader.deadLetters.list(instance)).length,
    };
  }
  return { conversations, traces: prefix === '' ? await readTraces(reader) : [] };
}

function nameOf({ agentName, instanceKey }: AgentAddress): string {
  return `${agentName}/${instanceKey}`;
}

async function readTraces({ traces }: StoreReader): Promise<readonly unknown[]> {
  const turns = await traces.list({ last: 1000 });
  const own = turns.filter(({ source }) => source?.kind !== 'agent').map(({ turnId }) => turnId);
  const read: unknown[] = [];
  for (const turnId of own.toSorted()) {
    const found = await readEnded(traces, turnId);
    // The last records of a killed process may be missing, so of such a turn only the summary is compared.
    read.push(normalise(found.turns.map(({ chain, ...turn }) => (turn.resumes > 0 ? turn : { ...turn, chain }))));
  }
  return read;
}

/** Waits for the last records of the turn, which are written shortly after its answer; those of a killed process may be missing. */
async function readEnded(traces: StoreReader['traces'], turnId: string) {
  const deadline = performance.now() + LAST_RECORDS_MS;
  for (;;) {
    const found = await traces.read(turnId);
    if (found.turns.every(hasEnded) || performance.now() > deadline) return found;
    await Bun.sleep(20);
  }
}

const LAST_RECORDS_MS = 5_000;

/** Looks also into the turns of called agents, which are inside the chains. */
function hasEnded(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return true;
  const isOpen = 'isUnfinished' in part || ('chain' in part && !('ending' in part));
  return !isOpen && Object.values(part).every(hasEnded);
}

/**
 * Fields that differ between two runs: times, and ids of spans, which are random. `references` has digests of messages
 * with their times. `resumes` and `missing` tell of interruptions.
 */
const DIFFERS = /^(at|.*At|.*Ms|pid|node|spanId|parentSpanId|traceId|references|resumes|missing)$/;

/** Returns a copy without the fields that differ between two runs. */
function normalise(value: unknown): unknown {
  // Safe: everything that is kept is JSON.
  return JSON.parse(JSON.stringify(value, (key, each: unknown) => (DIFFERS.test(key) ? undefined : each)));
}

/**
 * Describes how two outcomes differ: the names of the conversations and the parts of them. An empty list: they are
 * equal.
 */
export function compareOutcomes(expected: Outcome, found: Outcome): readonly string[] {
  const names = new Set([...Object.keys(expected.conversations), ...Object.keys(found.conversations)]);
  const differences: string[] = [];
  for (const name of names) {
    const [one, other] = [expected.conversations[name], found.conversations[name]];
    for (const part of ['transcript', 'state', 'history', 'pending', 'deadLetters'] as const)
      differences.push(...compare(`${name}: ${part}`, one?.[part], other?.[part]));
  }
  for (let index = 0; index < Math.max(expected.traces.length, found.traces.length); index++)
    differences.push(...compare(`trace ${index + 1}`, expected.traces[index], found.traces[index]));
  return differences;
}

/** Compares only the transcripts. A call that was interrupted and may not be repeated has an error as its result. */
export function compareTranscripts(expected: Outcome, found: Outcome): readonly string[] {
  const names = new Set([...Object.keys(expected.conversations), ...Object.keys(found.conversations)]);
  return [...names].flatMap((name) =>
    compare(
      `${name}: transcript`,
      withoutInterruptions(expected.conversations[name]?.transcript),
      withoutInterruptions(found.conversations[name]?.transcript),
    ),
  );
}

interface Output {
  readonly type?: string;
  readonly value?: { readonly code?: string };
}

/** Replaces the results of calls that may not be repeated: `did` when it ended, `E_INTERRUPTED` when it did not. */
function withoutInterruptions(transcript: unknown): unknown {
  return JSON.parse(
    JSON.stringify(transcript ?? null, (key, each: unknown) => {
      // The id of a request is a digest of the caller's event, whose id has the name of the round.
      if (typeof each === 'string') return each.replaceAll(/call-[0-9a-f]{32}/g, 'call');
      if (key !== 'output') return each;
      // Safe: the shape of a tool result's output.
      const { type, value } = each as Output;
      const isInterrupted = value?.code === 'E_INTERRUPTED';
      return isInterrupted || (type === 'json' && JSON.stringify(value).startsWith('{"did":')) ? 'a result' : each;
    }),
  );
}

const SHOWN = 300;

function compare(what: string, one: unknown, other: unknown): readonly string[] {
  const [expected, found] = [JSON.stringify(one) ?? 'nothing', JSON.stringify(other) ?? 'nothing'];
  if (expected === found) return [];
  let at = 0;
  while (expected[at] === found[at]) at += 1;
  const from = Math.max(0, at - 60);
  return [`${what}: expected …${expected.slice(from, from + SHOWN)}…, found …${found.slice(from, from + SHOWN)}…`];
}
