/**
 * The agent's view of its inbox, which another process writes: reads what was added since the last look. A write that
 * is not finished yet is not seen yet.
 */
import type { AgentEvent } from '@goondan/types';
import type { InstanceAddress } from '../../agent/conversation/conversation-store.ts';
import { refuseOtherInstance } from '../journal/metadata.ts';
import { readMetadata } from '../journal/read-metadata.ts';
import type { InstancePaths } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { readLines } from '../lines/read-lines.ts';
import type { StorePorts } from '../store-ports.ts';
import { readEntry, turnIdOf, type InboxEntry } from './inbox-lines.ts';
import { readInbox } from './read-inbox.ts';

export class InboxReader {
  readonly #ports: StorePorts;
  readonly #path: string;
  readonly #address: InstanceAddress;
  #identity: string | undefined;
  #offset = 0;
  #last = 0;
  #entries: InboxEntry[] = [];

  constructor(ports: StorePorts, path: string, address: InstanceAddress) {
    this.#ports = ports;
    this.#path = path;
    this.#address = address;
  }

  /** Events numbered above `handled`, oldest first. **Errors** — `E_STORE_CORRUPT`, also when the file is gone. */
  async pending(handled: number): Promise<readonly InboxEntry[]> {
    await this.#refresh(handled);
    if (this.#entries[0] && this.#entries[0].seq <= handled) {
      this.#entries = this.#entries.filter(({ seq }) => seq > handled);
    }
    return this.#entries;
  }

  async #refresh(handled: number): Promise<void> {
    const stat = await this.#ports.fs.stat(this.#path);
    if (!stat) {
      if (handled === 0) return;
      throw await corruptStore(this.#ports, this.#path, 'it is gone, but events of it were handled');
    }
    if (stat.identity !== this.#identity || stat.size < this.#offset) return this.#readAll(stat.identity);
    if (stat.size > this.#offset) await this.#readNew();
  }

  async #readAll(identity: string): Promise<void> {
    const read = readLines((await this.#ports.fs.read(this.#path)) ?? new Uint8Array());
    const contents = readInbox(read);
    if (typeof contents === 'string') throw await corruptStore(this.#ports, this.#path, contents);
    refuseOtherInstance(this.#path, this.#address, contents.head);
    this.#identity = identity;
    this.#entries = [...contents.entries];
    this.#last = contents.head.before + contents.entries.length;
    this.#offset = read.end;
  }

  async #readNew(): Promise<void> {
    const read = readLines((await this.#ports.fs.read(this.#path, this.#offset)) ?? new Uint8Array());
    if (read.damage) throw await corruptStore(this.#ports, this.#path, read.damage);
    for (const line of read.lines) {
      const entry = readEntry(line, this.#last);
      if (!entry) throw await corruptStore(this.#ports, this.#path, `event ${this.#last + 1} is missing`);
      this.#entries.push(entry);
      this.#last = entry.seq;
    }
    this.#offset += read.end;
  }
}

export function findEntry(entries: readonly InboxEntry[], turnId: string): InboxEntry | undefined {
  return entries.find(({ event }) => turnIdOf(event) === turnId);
}

/** For whoever does not own the instance: accepted events whose turn is not committed, oldest first. */
export async function readPending(
  ports: StorePorts,
  paths: InstancePaths,
  address: InstanceAddress,
): Promise<readonly AgentEvent[]> {
  const metadata = await readMetadata(ports, paths.metadata);
  const entries = await new InboxReader(ports, paths.inbox, address).pending(metadata?.commit.inbox ?? 0);
  return entries.map(({ event }) => event);
}
