/**
 * Reads the newest moment of a conversation from its intact files. There are two sources: the files of the last commit,
 * and the files of the history. Each source has all messages.
 */
import type { AgentAddress, GoondanError } from '@goondan/types';
import { foldHistory } from '../history/fold-history.ts';
import type { HistoryFold } from '../history/history-fold.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import type { Journal } from './journal.ts';
import type { IntactConversation } from './read-committed.ts';

export type SalvageSource = Pick<Journal, 'history' | 'readIntact'>;

/**
 * Reads the last commit. Also reads the history if `withHistory` is true, or if another file is damaged.
 *
 * `version`: the number of the commit; absent when it is not known. `messages`: absent when no intact copy exists.
 * `unknownStates`: extensions whose state has no intact copy, neither in its file nor in the history. `fold`: the fold
 * of the complete history, if it was read and is intact. `problems`: one text for each damaged part, with an error code
 * and the effect.
 *
 * **Errors** — `E_STORE_READ`, `E_STORE_INSTANCE`.
 */
export async function salvageConversation(source: SalvageSource, instance: AgentAddress, withHistory: boolean) {
  const before = withHistory ? await readWholeHistory(source, instance) : {};
  const intact = await source.readIntact(instance);
  const isNeeded = !withHistory && intact.problems.length > 0;
  const { fold, problem } = isNeeded ? await readWholeHistory(source, instance) : before;
  const isFolded = fold !== undefined && (withHistory || intact.messages === undefined);
  // The swarm may have committed another turn between the read of the files and the read of the history.
  const isOther = isFolded && fold.version !== intact.version;
  const states = isOther ? fold.states() : mendStates(intact, fold);
  const { messages, version } = isFolded ? { messages: fold.messages(), version: fold.version } : intact;
  const problems = intact.problems.flatMap((each, index) => {
    // Both sources may have the same damaged file.
    if (each.message === problem?.message) return [];
    const name = intact.lostStates[index - intact.problems.length + intact.lostStates.length];
    if (name === undefined) return describeDamage(each, consequence(intact, isFolded));
    const isLost = states.unknown.includes(name);
    return describeDamage(each, `The state of "${name}" is ${isLost ? 'lost' : 'the one that the last turn left'}.`);
  });
  return {
    version,
    messages,
    extensionState: states.known,
    unknownStates: states.unknown,
    fold,
    problems: problem === undefined ? problems : [describeDamage(problem, historyConsequence(intact)), ...problems],
  };
}

/** Describes a damage and its effect (`then`) in one line. */
export function describeDamage({ code, message }: GoondanError, then = ''): string {
  return `${code}: ${message}${then === '' ? '' : `. ${then}`}`;
}

/**
 * Reads the history. Without a commit record, the end of the history cannot be checked; then the history counts as
 * intact if it has at least one event.
 */
async function readWholeHistory(
  source: SalvageSource,
  instance: AgentAddress,
): Promise<{ readonly fold?: HistoryFold; readonly problem?: GoondanError }> {
  let unchecked: GoondanError | undefined;
  try {
    const fold = await foldHistory(source, instance, undefined, 0, (error) => void (unchecked = error));
    return unchecked === undefined || fold.seq > 0 ? { fold } : {};
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return { problem: error };
  }
}

/** Returns the states from their files, and for a damaged file the state from the history. */
function mendStates({ extensionState, lostStates }: IntactConversation, fold: HistoryFold | undefined) {
  const archived = new Map(Object.entries(fold?.states().known ?? {}));
  const mended = [...archived].filter(([name]) => lostStates.includes(name));
  return {
    known: { ...Object.fromEntries(mended), ...extensionState },
    unknown: lostStates.filter((name) => !archived.has(name)),
  };
}

function historyConsequence({ messages }: IntactConversation): string {
  return messages === undefined ? '' : 'The messages come from the last commit, without their history.';
}

function consequence({ version }: IntactConversation, isFolded: boolean): string {
  if (!isFolded) return '';
  if (version !== undefined) return 'The messages come from the history.';
  return 'The messages and states come from the history, which may lack the last turn.';
}
