/**
 * Reads the committed conversation for processes that do not own the instance. It takes no lock and changes nothing.
 * The turns since the checkpoint are folded into the base that the checkpoint left.
 */
import type { GoondanError, JsonValue, Message } from '@goondan/types';
import type { ConversationSnapshot } from '../../agent/conversation/conversation-store.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore, isCorrupt } from '../lines/corrupt-store.ts';
import { readSettled } from '../lines/read-settled.ts';
import { parseExtensions, readStates } from '../records/extension-files.ts';
import { foldBase, readBaseFile } from '../records/read-base.ts';
import { corruptLog, type ReadLog, readState } from '../records/read-log.ts';

/** The newest moment of a conversation, read from its intact files. */
export interface IntactConversation {
  /** The number of the commit. Absent when the commit record is damaged. */
  readonly version?: number;
  readonly stateVersion?: number;
  /** The messages of the conversation. Absent when the base or the commit record is damaged. */
  readonly messages?: readonly Message[];
  readonly extensionState: Readonly<Record<string, JsonValue>>;
  /** Extensions whose state file is damaged. */
  readonly lostStates: readonly string[];
  /** One `E_STORE_CORRUPT` per damaged file. The errors of state files come last, in the order of `lostStates`. */
  readonly problems: readonly GoondanError[];
}

/** Reads the conversation; empty when the instance does not exist. **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`, … */
export async function readCommitted(stored: StoredInstance): Promise<ConversationSnapshot> {
  const intact = await readIntact(stored);
  const { version = 0, stateVersion = 0, messages = [], extensionState } = intact;
  const [problem] = intact.problems;
  if (problem) throw problem;
  return { version, stateVersion, messages, extensionState };
}

/** Reads the intact files. **Errors** — `E_STORE_READ`, `E_STORE_INSTANCE`. */
export async function readIntact(stored: StoredInstance): Promise<IntactConversation> {
  try {
    return await readSettled(stored, async (settled) => {
      const log = await readState(settled, true);
      if (!log) return { version: 0, messages: [], extensionState: {}, lostStates: [], problems: [] };
      const { damaged, ...found } = await readAt(settled, log);
      const problems = damaged.map((path) => corruptStore(settled, path, 'it does not match the checkpoint'));
      if (log.damage?.isHeadOnly) problems.unshift(corruptLog(settled, log.damage));
      return { ...found, problems: await Promise.all(problems) };
    });
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return { extensionState: {}, lostStates: [], problems: [error] };
  }
}

async function readAt(
  stored: StoredInstance,
  { metadata, state, turns }: ReadLog,
): Promise<Omit<IntactConversation, 'problems'> & { readonly damaged: readonly string[] }> {
  const { paths } = stored;
  const base = await readBaseFile(stored, metadata.checkpoint.base);
  const { texts, lost } = await readStates(stored, state.states);
  return {
    version: state.version,
    stateVersion: state.stateVersion,
    ...(base && { messages: foldBase(base, turns) }),
    extensionState: parseExtensions(texts),
    lostStates: lost,
    damaged: [...(base ? [] : [paths.base]), ...lost.map((name) => paths.extension(name))],
  };
}
