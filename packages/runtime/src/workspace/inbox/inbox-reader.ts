/**
 * Reads the inbox log for processes that do not write it. It takes no lock. The log is read once; later questions read only
 * the lines that were added since. Questions that are asked together, as for a list, look at the files once. Damaged files
 * are read again only when they were changed.
 */
import type { AgentAddress } from '@goondan/types';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { SharedRun } from '../../ports/shared-run.ts';
import type { StorePorts } from '../store-ports.ts';
import { missingAfter } from './find-missing.ts';
import type { InboxEntry } from './inbox-line.ts';
import type { InputProgress } from './input-progress.ts';
import { type InstanceInbox, lostLine } from './instance-inbox.ts';
import { type InboxContents, type InboxDamage, isUnchanged, keyOf, readInboxLog } from './read-inbox-log.ts';
import { readSegment } from './read-segment.ts';
import { reportDamage } from './report-damage.ts';

const NEWLINE = 0x0a;
/** The number of bytes that are read first. If the last one is a zero, all new lines are among them. */
const ADDED_BYTES = 16 * 1024;

interface Known {
  readonly contents: InboxContents;
  readonly identity: string | undefined;
  readonly end: number;
}

export class InboxReader {
  #known: Known | undefined;
  readonly #refresh = new SharedRun(() => this.#read());

  constructor(
    private readonly ports: Pick<StorePorts, 'fs'>,
    private readonly folder: string,
  ) {}

  /** Returns the events that are not handled, oldest first. **Errors** — `E_STORE_CORRUPT`, `E_STORE_READ`. */
  async pending(stored: StoredInstance, progress: InputProgress): Promise<readonly InboxEntry[]> {
    const { handled, taken, begun } = progress;
    const { contents } = await this.#refresh.run();
    const { lost, segments, inboxes } = contents;
    const report = (damage: InboxDamage) => reportDamage(stored, this.folder, contents, damage);
    const inbox = inboxes.get(keyOf(stored.address));
    if (lost && (inbox?.deletedAt ?? 0) <= lost.n) throw await report(lost);
    const missing = segments.length === 0 ? missingAfter(progress) : undefined;
    if (missing !== undefined) throw await report(lostLine(missing));
    if (begun > Math.max(handled, inbox?.written ?? 0)) throw await report(lostLine(begun));
    if (!inbox || (await isDeleted(stored, inbox))) return [];
    const damage = inbox.problem(progress);
    if (damage) throw await report(damage);
    return inbox.entries().filter(({ seq }) => seq > handled && !taken.includes(seq));
  }

  /** Returns true if the log has lines of the instance that are not known as handled. */
  async has(stored: StoredInstance): Promise<boolean> {
    const { contents } = await this.#refresh.run();
    const inbox = contents.inboxes.get(keyOf(stored.address));
    return inbox?.isEmpty === false && !(await isDeleted(stored, inbox));
  }

  /** Lists the instances with lines that are not known as handled. */
  async addresses(storedAt: (address: AgentAddress) => StoredInstance): Promise<AgentAddress[]> {
    const { contents } = await this.#refresh.run();
    const found: AgentAddress[] = [];
    for (const inbox of contents.inboxes.values()) {
      const { isEmpty, address } = inbox;
      if (!isEmpty && !(await isDeleted(storedAt(address), inbox))) found.push(address);
    }
    return found;
  }

  async #read(): Promise<Known> {
    const added = this.#known && (await this.#readAdded(this.#known));
    this.#known = added ?? (await this.#readAll());
    return this.#known;
  }

  async #readAll(): Promise<Known> {
    const { fs } = this.ports;
    const contents = await readInboxLog(fs, this.folder, false);
    const newest = contents.segments.at(-1);
    const identity = newest && (await fs.stat(newest.path))?.identity;
    return { contents, identity, end: contents.current?.end ?? 0 };
  }

  /** Reads the lines that were added. Returns `undefined` when the log has to be read again. */
  async #readAdded({ contents, identity, end }: Known): Promise<Known | undefined> {
    const { fs } = this.ports;
    const newest = contents.segments.at(-1);
    if (!newest || !contents.current || end === 0) return undefined;
    if (!(await isUnchanged(fs, this.folder, contents))) return undefined;
    if ((await fs.stat(newest.path))?.identity !== identity) return undefined;
    // No line is added to a damaged segment.
    if (newest.isDamaged) return this.#known;
    let bytes = await fs.read(newest.path, end - 1, ADDED_BYTES);
    if (bytes?.at(-1) !== 0) bytes = await fs.read(newest.path, end - 1);
    if (bytes?.[0] !== NEWLINE) return undefined;
    const read = readSegment(bytes.subarray(1), { offset: end, next: contents.n + 1 });
    if (read.damage !== undefined) return undefined;
    contents.add(newest, read);
    return { contents, identity, end: read.lines.length > 0 ? read.end : end };
  }
}

/** A deletion that was interrupted has happened if the folder is gone. */
async function isDeleted({ fs, paths }: StoredInstance, { deleting }: InstanceInbox): Promise<boolean> {
  return deleting !== undefined && (await fs.stat(paths.folder)) === undefined;
}
