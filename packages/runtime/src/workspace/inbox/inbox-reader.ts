/**
 * Reads the inbox for the agent process; the orchestrator writes it. Each read returns the lines added since the
 * previous read. A line that is not completely written yet is left for the next read.
 */
import { refuseOtherInstance } from '../records/metadata.ts';
import { handledUpTo } from '../records/read-log.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { readLines } from '../lines/read-lines.ts';
import { entriesOf, type InboxEntry, readInbox, readInboxLines } from './inbox-lines.ts';
import { turnIdOf } from '../../ports/ids.ts';

export class InboxReader {
  #identity: string | undefined;
  #offset = 0;
  #last = 0;
  #entries: InboxEntry[] = [];
  /**
   * The turn ids of the handled events that the file names. The set never has more ids than the file, because each full
   * read rebuilds the set.
   */
  #handledTurns = new Set<string>();

  constructor(private readonly stored: StoredInstance) {}

  /**
   * Returns events numbered above `handled`, oldest first. **Errors** — `E_STORE_CORRUPT`, also when the file was
   * deleted.
   */
  async pending(handled: number): Promise<readonly InboxEntry[]> {
    await this.#refresh(handled);
    if (this.#entries[0] && this.#entries[0].seq <= handled) {
      for (const { seq, event } of this.#entries) if (seq <= handled) this.#handledTurns.add(turnIdOf(event.id));
      this.#entries = this.#entries.filter(({ seq }) => seq > handled);
    }
    return this.#entries;
  }

  /**
   * Returns true if the event of this turn was handled, according to the last call of `pending`. Also returns false for
   * a handled event whose id is no longer kept.
   */
  wasHandled(turnId: string): boolean {
    return this.#handledTurns.has(turnId);
  }

  async #refresh(handled: number): Promise<void> {
    const { fs, paths } = this.stored;
    const stat = await fs.stat(paths.inbox);
    if (!stat) {
      if (handled === 0) return;
      throw await corruptStore(this.stored, paths.inbox, 'it is missing, but events from it were handled');
    }
    if (stat.identity !== this.#identity || stat.size < this.#offset) return this.#readAll(stat.identity);
    if (stat.size > this.#offset) await this.#readNew(stat.identity);
  }

  async #readAll(identity: string): Promise<void> {
    const { fs, paths, address } = this.stored;
    const read = readLines((await fs.read(paths.inbox)) ?? new Uint8Array());
    const contents = readInbox(read);
    if (typeof contents === 'string') throw await corruptStore(this.stored, paths.inbox, contents);
    refuseOtherInstance(paths.inbox, address, contents.head);
    this.#identity = identity;
    this.#entries = entriesOf(contents.lines);
    this.#handledTurns = new Set(contents.head.handled.map(turnIdOf));
    this.#last = contents.head.before + contents.lines.length;
    this.#offset = read.end;
  }

  async #readNew(identity: string): Promise<void> {
    const { fs, paths } = this.stored;
    const read = readLines((await fs.read(paths.inbox, this.#offset)) ?? new Uint8Array());
    const lines = readInboxLines(read.lines, this.#last);
    // The file is damaged, or it is a new file that got the inode number of the old one.
    if (read.damage || typeof lines === 'string') return this.#readAll(identity);
    this.#entries = entriesOf(lines, this.#entries);
    this.#last += lines.length;
    this.#offset += read.end;
  }
}

export function findEntry(entries: readonly InboxEntry[], turnId: string): InboxEntry | undefined {
  return entries.find(({ event }) => turnIdOf(event.id) === turnId);
}

/** Reads accepted events without a committed turn, oldest first, for processes that do not own the instance. */
export async function readPending(stored: StoredInstance): Promise<readonly InboxEntry[]> {
  return new InboxReader(stored).pending(await handledUpTo(stored));
}
