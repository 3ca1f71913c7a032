/**
 * Imports the older `inbox.jsonl` of each instance into the inbox log of the workspace, for instances of format 1 that were
 * migrated, too. Only for the owner of the workspace.
 *
 * 1. Lines keep their numbers. So a line that a crash left in both places is read once. 2. A file is removed only when its
 * lines are durable in the log. 3. `old-inboxes.json` says that all folders were looked at, and which files stay, because
 * they or the log of their instance are damaged. Only these instances do not start; each use tries again.
 */
import type { AgentAddress } from '@goondan/types';
import { instanceFolderName, pathsIn, type StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { refuseOtherInstance } from '../records/metadata.ts';
import { readHandledNumbers } from '../records/read-log.ts';
import type { StorePorts } from '../store-ports.ts';
import { type OldInbox, readOldInbox } from './old-inbox.ts';
import type { OpenInbox } from './open-inbox.ts';

/** The number of files whose lines are written together. */
const AT_ONCE = 256;

export interface OldInboxPlace extends StorePorts {
  /** The folder of the inbox log. */
  readonly folder: string;
  readonly instances: string;
  readonly storedAt: (address: AgentAddress) => StoredInstance;
}

export class OldInboxes {
  readonly #importing = new Map<string, Promise<void>>();

  constructor(
    private readonly place: OldInboxPlace,
    /** The names of the folders whose files stay. */
    private readonly left: Set<string>,
  ) {}

  has({ agentName, instanceKey }: AgentAddress): boolean {
    return this.left.size > 0 && this.left.has(instanceFolderName(agentName, instanceKey));
  }

  /** Imports the files of all these folders into the log, unless that was done before. */
  async importAll(inbox: OpenInbox, names: Iterable<string>): Promise<void> {
    const { fs, instances } = this.place;
    if ((await readLeft(this.place)) !== undefined) return;
    let found: string[] = [];
    for (const name of names) {
      const paths = pathsIn(`${instances}/${name}`);
      if (await fs.stat(paths.inbox)) found.push(name);
      if (found.length < AT_ONCE) continue;
      await this.#importSome(inbox, found);
      found = [];
    }
    await this.#importSome(inbox, found);
    await this.#writeLeft();
  }

  /** Imports the file of one instance into the log, if it stayed. **Errors** — the reason why it cannot be read. */
  async importOne(inbox: OpenInbox, address: AgentAddress): Promise<void> {
    if (!this.has(address)) return;
    const name = instanceFolderName(address.agentName, address.instanceKey);
    const importing =
      this.#importing.get(name) ?? this.#importLeft(inbox, address).finally(() => this.#importing.delete(name));
    this.#importing.set(name, importing);
    await importing;
  }

  async #importLeft(inbox: OpenInbox, address: AgentAddress): Promise<void> {
    const stored = this.place.storedAt(address);
    const old = await readOf(stored);
    const committed = await readHandledNumbers(stored);
    // Without a file and without handled events there is nothing to lose: a deletion was interrupted after the rename.
    if (!old && committed.handled > 0) throw await corruptStore(stored, stored.paths.inbox, MISSING);
    if (old) {
      refuseOtherInstance(stored.paths.inbox, address, old);
      await inbox.importOld(old, committed);
      await stored.fs.remove(stored.paths.inbox);
    }
    await this.forget(address);
  }

  /** Notes that no file of the instance stays. */
  async forget({ agentName, instanceKey }: AgentAddress): Promise<void> {
    const name = instanceFolderName(agentName, instanceKey);
    if (!this.left.delete(name)) return;
    try {
      await this.#writeLeft();
    } catch (error) {
      this.left.add(name);
      throw error;
    }
  }

  async #writeLeft(): Promise<void> {
    const { fs, folder } = this.place;
    await replaceFile(fs, leftPath(folder), Buffer.from(`${JSON.stringify({ left: [...this.left] })}\n`));
  }

  async #importSome(inbox: OpenInbox, names: readonly string[]): Promise<void> {
    const imported: string[] = [];
    const writes = names.map(async (name) => {
      const path = pathsIn(`${this.place.instances}/${name}`).inbox;
      const old = readOldInbox((await this.place.fs.read(path)) ?? new Uint8Array());
      if (typeof old === 'string') return this.#leave(name, path, old);
      if (instanceFolderName(old.agentName, old.instanceKey) !== name)
        return this.#leave(name, path, 'it belongs to another instance');
      const committed = await readHandledNumbers(this.place.storedAt(old)).catch(() => undefined);
      if (!committed) return this.#leave(name, path, 'the log of its instance cannot be read');
      await inbox.importOld(old, committed);
      imported.push(path);
    });
    const ends = await Promise.allSettled(writes);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
    for (const path of imported) await this.place.fs.remove(path);
  }

  #leave(name: string, path: string, problem: string): void {
    this.left.add(name);
    this.place.warn({ path, message: `stays as it is, and its instance does not start: ${problem}` });
  }
}

/** Returns the names of the folders whose files stay; `undefined` if not all folders were looked at yet. */
export async function readLeft({ fs, folder }: Pick<OldInboxPlace, 'fs' | 'folder'>): Promise<string[] | undefined> {
  const path = leftPath(folder);
  const bytes = (await fs.stat(path)) ? await fs.read(path) : undefined;
  try {
    const parsed = bytes && (JSON.parse(new TextDecoder().decode(bytes)) as { readonly left?: unknown } | null);
    return Array.isArray(parsed?.left) ? parsed.left.map(String) : undefined;
  } catch {
    // All folders are looked at again.
    return undefined;
  }
}

export const MISSING = 'it is missing, but events from it were handled';

export function leftPath(folder: string): string {
  return `${folder}/old-inboxes.json`;
}

/** Reads the file of an instance; `undefined` when there is none. **Errors** — `E_STORE_CORRUPT`. */
export async function readOf(stored: StoredInstance): Promise<OldInbox | undefined> {
  const { fs, paths } = stored;
  const bytes = (await fs.stat(paths.inbox)) ? await fs.read(paths.inbox) : undefined;
  if (!bytes) return undefined;
  const old = readOldInbox(bytes);
  if (typeof old === 'string') throw await corruptStore(stored, stored.paths.inbox, old);
  return old;
}
