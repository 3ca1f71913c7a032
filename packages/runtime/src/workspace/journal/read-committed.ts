/**
 * What is committed, for whoever does not own the instance: changes nothing, takes no lock. The owner may be in the
 * middle of a commit; then the base is worked out as recovery would, or looked at again.
 */
import type { AgentAddress } from '@goondan/types';
import type { ConversationSnapshot } from '../../agent/conversation/conversation-store.ts';
import { nextOf, type InstancePaths } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { readLines } from '../lines/read-lines.ts';
import type { StorePorts } from '../store-ports.ts';
import { refuseLostMetadata } from './create-instance.ts';
import { parseExtensions, readExtensionFiles } from './extension-files.ts';
import { readEventLine } from './logged-record.ts';
import { decodeBase } from './message-text.ts';
import { refuseOtherInstance, stateVersionOf, type CommitRecord } from './metadata.ts';
import { planBase, type BaseFiles, type BasePlan } from './plan-base.ts';
import { readMetadata } from './read-metadata.ts';

const ATTEMPTS = 5;

/** An instance that is not there yet is an empty conversation. **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`, … */
export async function readCommitted(
  ports: StorePorts,
  paths: InstancePaths,
  address: AgentAddress,
): Promise<ConversationSnapshot> {
  for (let attempt = 1; ; attempt += 1) {
    const metadata = await readMetadata(ports, paths.metadata);
    if (!metadata) {
      await refuseLostMetadata(ports, paths);
      return { version: 0, stateVersion: 0, messages: [], extensionState: {} };
    }
    refuseOtherInstance(paths.metadata, address, metadata);
    const snapshot = await readAt(ports, paths, metadata.commit);
    if (!('damaged' in snapshot)) return snapshot;
    if (attempt >= ATTEMPTS) throw await corruptStore(ports, snapshot.damaged, 'it does not fit the last commit');
  }
}

async function readAt(
  { fs }: StorePorts,
  paths: InstancePaths,
  commit: CommitRecord,
): Promise<ConversationSnapshot | { readonly damaged: string }> {
  const base = await fs.read(paths.base);
  if (!base) return { damaged: paths.base };
  const next = await fs.read(nextOf(paths.base));
  const events = readLines((await fs.read(paths.events)) ?? new Uint8Array()).lines.map(readEventLine);
  const plan = planBase({ base, next }, commit, events);
  if (plan.type === 'damaged') return { damaged: paths.base };
  const extensions = await readExtensionFiles(fs, paths, commit);
  if (extensions.damaged) return { damaged: extensions.damaged };

  const messages = decodeBase(afterwards({ base, next }, plan));
  const extensionState = parseExtensions(extensions.texts);
  return { version: commit.version, stateVersion: stateVersionOf(commit), messages, extensionState };
}

/** The base once the plan is carried out. */
function afterwards({ base, next }: BaseFiles, plan: BasePlan): Uint8Array {
  if (plan.type === 'append') return Buffer.concat([base.subarray(0, plan.from), plan.bytes]);
  return plan.type === 'rename' && next ? next : base;
}
