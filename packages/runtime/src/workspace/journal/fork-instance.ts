/** Creates an instance that continues from a moment of another conversation. */
import { type AgentAddress, GoondanError, type Message } from '@goondan/types';
import type { EventAuthor } from '../../agent/conversation/conversation-store.ts';
import type { BlamedMessage } from '../history/blamed-message.ts';
import { foldHistory, type Moment } from '../history/fold-history.ts';
import { HistoryFold } from '../history/history-fold.ts';
import type { HistoryStart } from '../history/history-start.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import { type SalvageSource, salvageConversation, describeDamage } from './salvage-conversation.ts';

export interface ForkOptions {
  /** The instance key of the fork. */
  readonly as: string;
  /** The moment to fork from; the newest when absent. */
  readonly at?: Moment;
}

export interface ForkedInstance {
  /**
   * The number of the last event of the original that the fork includes; absent when the original's history is damaged.
   */
  readonly seq?: number;
  readonly messages: number;
  /**
   * Extensions that start without a state, because their state at that moment was too long for the archive, or is
   * damaged.
   */
  readonly unknownStates: readonly string[];
  /** One text for each damaged part, with the effect of the damage on the fork. Absent when nothing is damaged. */
  readonly problems?: readonly string[];
}

/**
 * Reads the start of a fork. States that are not archived are known only at the newest moment. If every message of the
 * moment has an intact copy, damage is reported in `problems` and not thrown.
 *
 * **Errors** — `E_HISTORY_RANGE`; those of reading.
 */
export async function readFork(
  journal: SalvageSource,
  from: AgentAddress,
  at: Moment | undefined,
): Promise<ReturnType<typeof toFork>> {
  if (at === undefined) return readNewest(journal, from);
  const problems = new Set<string>();
  const fold = await foldHistory(journal, from, at, 0, (error) => {
    problems.add(describeDamage(error, 'No intact file shows the events after this moment.'));
  });
  const { known, unknown } = fold.states();
  const now = unknown.length > 0 ? await journal.readIntact(from) : undefined;
  const isNow = now?.version === fold.version && now.problems.length === 0;
  const states = isNow ? { known: now.extensionState, unknown: [] } : { known, unknown };
  return toFork(from, fold.blamed(), states, [...problems], fold.seq);
}

/** Adds a problem if the input of the original is damaged. A fork has no input, but the original may have lost some. */
export async function addInputDamage(
  forked: ForkedInstance,
  readPending: () => Promise<unknown>,
): Promise<ForkedInstance> {
  try {
    await readPending();
    return forked;
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    const { problems = [] } = forked;
    const problem = describeDamage(error);
    // Skips a problem that is known already, with its consequence.
    if (problems.some((each) => each.startsWith(problem))) return forked;
    return { ...forked, problems: [...problems, `${problem}. The fork has everything but waiting input.`] };
  }
}

async function readNewest(journal: SalvageSource, from: AgentAddress): Promise<ReturnType<typeof toFork>> {
  // The archive lacks long states, and states that were committed alone since the last turn.
  const { fold, messages, extensionState, unknownStates, problems } = await salvageConversation(journal, from, true);
  if (messages === undefined) throw await wholeNowhere(journal, from, problems);
  const blamed = fold?.blamed() ?? messages.map(blameSource);
  return toFork(from, blamed, { known: extensionState, unknown: unknownStates }, problems, fold?.seq);
}

function toFork(
  { instanceKey }: AgentAddress,
  blamed: readonly BlamedMessage[],
  { known: extensionState, unknown: unknownStates }: HistoryStart['states'],
  problems: readonly string[],
  seq: number | undefined,
) {
  // Ephemeral messages belong to a step or turn that the fork does not continue.
  const messages = blamed.filter(({ message }) => message.lifetime === undefined);
  const moment = seq === undefined ? {} : { seq };
  const found = problems.length > 0 ? { problems } : {};
  const forked: ForkedInstance = { ...moment, messages: messages.length, unknownStates, ...found };
  return { conversation: { from: { instanceKey, ...moment }, messages, extensionState }, forked };
}

/** Describes the origin of a message from the message alone, because its history cannot be read. */
function blameSource(message: Message, index: number): BlamedMessage {
  const { source, createdAt: at } = message;
  const step = source.type === 'assistant' ? { stepId: source.stepId } : {};
  return { seq: index + 1, at, turnId: '', ...step, author: authorOf(message), how: 'append', message };
}

function authorOf({ source }: Message): EventAuthor {
  if (source.type === 'user') return { kind: 'input' };
  if (source.type === 'assistant') return { kind: 'model' };
  if (source.type === 'tool') return { kind: 'tool', name: source.toolName };
  if (source.type === 'extension') return { kind: 'extension', name: source.extensionName };
  return { kind: 'runtime' };
}

/**
 * Makes the error for a conversation without an intact copy. The error names the last moment that `--at` can fork from.
 */
async function wholeNowhere(
  journal: SalvageSource,
  from: AgentAddress,
  [problem = '', ...others]: readonly string[],
): Promise<GoondanError> {
  const last = await lastReadable(journal, from);
  const backup = 'Restore the files from a backup, then ask again. Without a backup,';
  const fork = `\`gdn fork --at ${last}\` continues after event ${last}, the last event that can be read, and`;
  const suggestion = `${backup} ${last === 0 ? '' : `${fork} `}\`gdn instance export\` writes out what can be read.`;
  const message = [problem.replace('E_STORE_CORRUPT: ', ''), ...others].join('; ');
  return new GoondanError('E_STORE_CORRUPT', message, { suggestion });
}

async function lastReadable(journal: SalvageSource, from: AgentAddress): Promise<number> {
  let fold: HistoryFold | undefined;
  try {
    const { start, turns } = await journal.history(from, () => undefined);
    fold = new HistoryFold(start);
    for await (const turn of turns) fold.apply(turn);
  } catch (error) {
    if (!isCorrupt(error)) throw error;
  }
  return fold?.seq ?? 0;
}
