/**
 * Reads the committed conversation for processes that do not own the instance. It takes no lock and changes nothing.
 * While the owner is committing, the base is computed in the same way as recovery does, or read again.
 */
import type { GoondanError, JsonValue, Message } from '@goondan/types';
import type { ConversationSnapshot } from '../../agent/conversation/conversation-store.ts';
import { nextOf, type StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore, isCorrupt } from '../lines/corrupt-store.ts';
import { readLines } from '../lines/read-lines.ts';
import { parseExtensions, readExtensionFiles } from '../records/extension-files.ts';
import { readEventLine } from '../records/logged-record.ts';
import { decodeBase } from '../../messages/message-text.ts';
import { stateVersionOf, type CommitRecord } from '../records/metadata.ts';
import { planBase, type BasePlan } from './plan-base.ts';
import { readOwnMetadata } from '../records/read-metadata.ts';

const ATTEMPTS = 5;

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

/** Reads the intact files. **Errors** — `E_STORE_READ`, `E_STORE_FORMAT`, `E_STORE_INSTANCE`. */
export async function readIntact(stored: StoredInstance): Promise<IntactConversation> {
  try {
    for (let attempt = 1; ; attempt += 1) {
      const metadata = await readOwnMetadata(stored);
      if (!metadata) return { version: 0, messages: [], extensionState: {}, lostStates: [], problems: [] };
      const { damaged, ...found } = await readAt(stored, metadata.commit);
      if (damaged.length > 0 && attempt < ATTEMPTS) continue;
      const problems = damaged.map((path) => corruptStore(stored, path, 'it does not match the last commit'));
      return { ...found, problems: await Promise.all(problems) };
    }
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return { extensionState: {}, lostStates: [], problems: [error] };
  }
}

async function readAt(
  stored: StoredInstance,
  commit: CommitRecord,
): Promise<Omit<IntactConversation, 'problems'> & { readonly damaged: readonly string[] }> {
  const { fs, paths } = stored;
  const base = await fs.read(paths.base);
  const next = await fs.read(nextOf(paths.base));
  const events = readLines((await fs.read(paths.events)) ?? new Uint8Array()).lines.map(readEventLine);
  const plan = base && planBase(base, next, commit, events);
  const extensions = await readExtensionFiles(stored, commit);
  const messages = !base || !plan || plan.type === 'damaged' ? undefined : decodeBase(afterwards(base, next, plan));
  return {
    version: commit.version,
    stateVersion: stateVersionOf(commit),
    ...(messages && { messages }),
    extensionState: parseExtensions(extensions.texts),
    lostStates: extensions.lost,
    damaged: [...(messages ? [] : [paths.base]), ...extensions.lost.map((name) => paths.extension(name))],
  };
}

/** Returns the base as it will be after the plan is carried out. */
function afterwards(base: Uint8Array, next: Uint8Array | undefined, plan: BasePlan): Uint8Array {
  if (plan.type === 'append') return Buffer.concat([base.subarray(0, plan.from), plan.bytes]);
  return plan.type === 'rename' && next ? next : base;
}
