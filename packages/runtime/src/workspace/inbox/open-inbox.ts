/**
 * The inbox of a workspace, as its owner has it open: the log, and in memory the pending input of all instances.
 *
 * Invariants: 1. `accept` resolves only when the event is durable. 2. An id is accepted once; the last `rememberedEvents`
 * handled ids of an instance stay known. 3. An event leaves the log only when the commit of its turn is durable. 4. `cancel`
 * resolves only when the mark is durable. 5. `accept` does no work that grows with the history or with the number of
 * instances: for an instance that was used lately it is one write.
 */
import { dirname } from 'node:path';
import { type AgentAddress, type AgentEvent, GoondanError } from '@goondan/types';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { handledUpTo } from '../records/read-log.ts';
import { planCompaction } from './compact-inbox.ts';
import { eraseDeleted } from './erase-deleted.ts';
import { KnownIds, readHandled } from './handled-ids.ts';
import { encodeLine, type InboxEntry, type InboxPayload } from './inbox-line.ts';
import { InboxLog, type InboxPlace, removeSegment } from './inbox-log.ts';
import type { Mailbox } from './mailbox.ts';
import type { OldInbox } from './old-inbox.ts';
import type { OldInboxes } from './old-inboxes.ts';
import { type InboxContents, keyOf, readInboxLog } from './read-inbox-log.ts';

/** The result of accepting an event. The event is durable on disk now, from this delivery or from an earlier one. */
export type Accepted =
  | {
      readonly accepted: true;
      readonly duplicate: false;
      /** The number of the event in the inbox of the instance. */
      readonly seq: number;
      readonly pending?: never;
    }
  | {
      readonly accepted: true;
      /** The event had been accepted before; nothing was written. */
      readonly duplicate: true;
      readonly seq?: never;
      /** The stored event; absent once a committed turn has handled it. */
      readonly pending?: InboxEntry;
    };

/** The most ids of handled events in memory, of all instances together. */
const MOST_IDS = 256 * 1024;

interface UsedMailbox {
  readonly mailbox: Mailbox;
  readonly stored: StoredInstance;
  readonly handled: KnownIds;
  /** The ids of pending events, each with its number and the write of its line. */
  readonly pending: Map<string, { readonly seq: number; readonly writing?: Promise<unknown> }>;
}

export interface OpenInboxPlace extends InboxPlace {
  readonly storedAt: (address: AgentAddress) => StoredInstance;
  /** Returns true if the instance had a folder when the inbox was opened. */
  readonly mayHaveRun: (address: AgentAddress) => boolean;
  readonly old: OldInboxes;
}

export class OpenInbox {
  /** The instances that were used lately. The most recently used one is last. */
  readonly #used = new Map<string, UsedMailbox>();
  #idCount = 0;
  /** Instances whose commits were read from their logs, and may not be durable yet. */
  readonly #unsynced = new Set<Mailbox>();
  /** Instances whose ids were dropped from memory. Their logs have them. */
  readonly #forgotten = new Set<string>();
  /** Deleted instances have nothing to read, even if a folder was there at the start. */
  readonly #deleted = new Set<string>();
  #log: InboxLog | undefined;

  private constructor(
    private readonly place: OpenInboxPlace,
    private readonly contents: InboxContents,
    /** True if there was no log. */
    readonly isNew: boolean,
  ) {}

  /** Opens the log, and repairs it after a crash. **Errors** — `E_FENCED`; those of the disk. */
  static async open(place: OpenInboxPlace): Promise<OpenInbox> {
    const { fs, folder, fence } = place;
    fence?.();
    const contents = await readInboxLog(fs, folder, true);
    const inbox = new OpenInbox(place, contents, contents.segments.length === 0);
    for (const { path, problem } of contents.damage) place.warn({ path, message: `is damaged: ${problem}` });
    const newest = contents.segments.at(-1);
    if (contents.current?.torn && newest)
      place.warn({
        path: newest.path,
        message: `its end was cut off after byte ${contents.current.end}: a crash left it incomplete`,
      });
    inbox.#log = await InboxLog.open(place, contents, (isWhole) => inbox.#plan(isWhole));
    try {
      if (inbox.log.current.number !== newest?.number)
        contents.segments.push({ ...inbox.log.current, isDamaged: false });
      for (const { path } of contents.replaced) await removeSegment(place, path);
      await inbox.#endDeletions();
      await inbox.eraseDeleted();
      return inbox;
    } catch (error) {
      await inbox.close();
      throw error;
    }
  }

  get failed(): boolean {
    return this.log.failed;
  }

  /** **Errors** — `E_INBOX_FULL`, retryable; `E_STORE_CORRUPT`; those of the disk. The event is then not accepted. */
  async accept(address: AgentAddress, event: AgentEvent): Promise<Accepted> {
    const used = this.#findUsed(keyOf(address)) ?? (await this.use(address));
    if (used.handled.has(event.id)) return { accepted: true, duplicate: true };
    const known = used.pending.get(event.id);
    if (known) {
      await known.writing;
      const pending = await this.#findPending(used, event.id);
      return { accepted: true, duplicate: true, ...(pending && { pending }) };
    }
    if (this.#isFull(used, event)) await this.#makeRoom(used, event);
    const { seq } = await this.#append(used, { event });
    return { accepted: true, duplicate: false, seq };
  }

  /**
   * Marks a pending event as cancelled. Returns false when no pending event has this id. A second call changes nothing.
   * The limits of the inbox do not apply, because an event has at most one mark.
   */
  async cancel(address: AgentAddress, eventId: string, reason: string): Promise<boolean> {
    const used = await this.use(address);
    await used.pending.get(eventId)?.writing;
    const entry = await this.#findPending(used, eventId);
    if (entry === undefined || entry.cancelled !== undefined) return entry !== undefined;
    await this.#append(used, { cancels: entry.seq, reason });
    return true;
  }

  /** Lists the pending events. `handled`: the number of the last handled event, if the caller knows it. */
  async pendingEntries(address: AgentAddress, handled?: number): Promise<readonly InboxEntry[]> {
    const mailbox = this.contents.mailboxes.get(keyOf(address));
    const isQuiet = !this.contents.lost && !this.place.old.has(address);
    if (isQuiet && (!mailbox || mailbox.isEmpty)) return [];
    const used = await this.use(address);
    this.#learn(used, handled ?? (await handledUpTo(used.stored)), false);
    return used.mailbox.entries();
  }

  /** Notes that the commit of an event's turn is durable. */
  handled(address: AgentAddress, eventId: string): void {
    const used = this.#used.get(keyOf(address));
    const seq = used?.pending.get(eventId)?.seq;
    if (!used || seq === undefined) return;
    this.#learn(used, seq, true);
    this.log.note(used.mailbox.address, used.mailbox.handled);
  }

  has(address: AgentAddress): boolean {
    return this.contents.mailboxes.get(keyOf(address))?.isEmpty === false;
  }

  /** Lists the instances with lines that are not known as handled. */
  addresses(): AgentAddress[] {
    return [...this.contents.mailboxes.values()].flatMap(({ isEmpty, address }) => (isEmpty ? [] : [address]));
  }

  /** Notes durably that the folder of the instance is about to be renamed. */
  async beginDeletion(address: AgentAddress): Promise<void> {
    await this.#write(this.contents.mailboxOf(address), { deleting: true });
  }

  /** Ends a deletion. `isDeleted`: if true, all input of the instance up to now is deleted. */
  async endDeletion(address: AgentAddress, isDeleted: boolean): Promise<void> {
    await this.#write(this.contents.mailboxOf(address), isDeleted ? { deleted: true } : { kept: true });
    if (!isDeleted) return;
    this.#forget(keyOf(address));
    this.#forgotten.delete(keyOf(address));
    this.#deleted.add(keyOf(address));
    await this.place.old.forget(address);
  }

  /** Removes the lines of deleted instances from the files. Never rejects. */
  eraseDeleted(): Promise<void> {
    return eraseDeleted(this.place, this.contents, this.log);
  }

  /** Adds the lines of an older inbox that are not in the log. Durable when the promise resolves. */
  async importOld({ lines, before, ...address }: OldInbox, handled: number): Promise<void> {
    const mailbox = this.contents.mailboxOf({ agentName: address.agentName, instanceKey: address.instanceKey });
    mailbox.take(Math.max(handled, before));
    // The numbers of an older inbox do not begin at 1.
    mailbox.settled = Math.max(mailbox.settled, before);
    this.#unsynced.add(mailbox);
    const writes = lines.map(async ([seq, payload]) => {
      if (seq <= mailbox.handled || mailbox.lines.has(seq)) return;
      const line = { to: mailbox.address, seq, payload, handled: mailbox.settled || undefined };
      mailbox.add(seq, { payload, ...(await this.log.write(line)) });
    });
    await Promise.all(writes);
  }

  get isDamaged(): boolean {
    return this.contents.damage.length > 0;
  }

  /** Returns true if the files are whole again, because a person has repaired them. */
  async isRepaired(): Promise<boolean> {
    return (await readInboxLog(this.place.fs, this.place.folder, true)).damage.length === 0;
  }

  close(): Promise<void> {
    return this.log.close();
  }

  get log(): InboxLog {
    if (!this.#log) throw new Error('the inbox log is not open');
    return this.#log;
  }

  /** Reads what the first use of an instance needs. **Errors** — `E_STORE_CORRUPT`, and those of reading. */
  async use(address: AgentAddress): Promise<UsedMailbox> {
    const key = keyOf(address);
    const found = this.#findUsed(key);
    if (found) return found;
    const stored = this.place.storedAt(address);
    await this.place.old.importOne(this, address);
    const mayHaveRun = !this.#deleted.has(key) && (this.#forgotten.has(key) || this.place.mayHaveRun(address));
    const mailbox = this.contents.mailboxOf(address);
    const read = mayHaveRun || mailbox.events > 0 ? await readHandled(stored) : { handled: 0, ids: [] };
    await this.#refuseDamage(mailbox, read.handled);
    // Another call may have been quicker.
    const again = this.#used.get(key);
    if (again) return again;
    const handled = new KnownIds(read.ids, stored.limits.rememberedEvents);
    const used: UsedMailbox = { mailbox, stored, handled, pending: new Map() };
    this.#idCount += handled.size;
    this.#learn(used, read.handled, false);
    for (const { seq, event } of mailbox.entries()) used.pending.set(event.id, { seq });
    this.#used.set(key, used);
    this.#deleted.delete(key);
    this.#forgetOldest();
    return used;
  }

  #findUsed(key: string): UsedMailbox | undefined {
    const found = this.#used.get(key);
    if (!found) return undefined;
    this.#used.delete(key);
    this.#used.set(key, found);
    return found;
  }

  async #refuseDamage(mailbox: Mailbox, handled: number): Promise<void> {
    const { lost, segments } = this.contents;
    const { folder } = this.place;
    const stored = this.place.storedAt(mailbox.address);
    if (lost && mailbox.deletedAt < lost.n) throw await corruptStore(stored, lost.path, lost.problem);
    const checked = mailbox.problem(handled);
    if (!checked) return;
    throw await corruptStore(stored, checked.path || (segments.at(-1)?.path ?? folder), checked.problem);
  }

  /** A duplicate that waits for this write gets its error, too. */
  #append({ mailbox, pending }: UsedMailbox, payload: InboxPayload): Promise<{ seq: number }> {
    const writing = this.#write(mailbox, payload);
    if ('event' in payload) pending.set(payload.event.id, { seq: mailbox.last, writing });
    return writing;
  }

  async #write(mailbox: Mailbox, payload: InboxPayload): Promise<{ seq: number }> {
    const seq = ++mailbox.last;
    // The first pending line says which numbers are not needed any more.
    const handled = mailbox.lines.size === 0 && mailbox.settled > 0 ? mailbox.settled : undefined;
    const written = await this.log.write({ to: mailbox.address, seq, payload, handled });
    mailbox.add(seq, { payload, ...written }, this.log.lastNumber);
    return { seq };
  }

  /** Takes out what is handled. `isDurable`: false if the commit was only read. */
  #learn({ mailbox, handled, pending }: UsedMailbox, seq: number, isDurable: boolean): void {
    if (seq <= mailbox.handled) return;
    const before = handled.size;
    const ids = mailbox.take(seq);
    handled.add(ids);
    for (const id of ids) pending.delete(id);
    this.#idCount += handled.size - before;
    if (isDurable) mailbox.settled = Math.max(mailbox.settled, seq);
    else this.#unsynced.add(mailbox);
  }

  async #findPending(used: UsedMailbox, eventId: string): Promise<InboxEntry | undefined> {
    const find = () => used.mailbox.entries().find(({ event }) => event.id === eventId);
    // The log of the instance is read again, because the process of the instance may have handled the event meanwhile.
    if (find()) this.#learn(used, await handledUpTo(used.stored), false);
    return find();
  }

  #isFull({ mailbox, pending, stored: { limits } }: UsedMailbox, event: AgentEvent): boolean {
    if (pending.size >= limits.inboxEvents) return true;
    // The size of the line is only needed near the limit.
    if (mailbox.bytes < limits.inboxBytes / 2 && (event.input?.length ?? 0) < limits.inboxBytes / 8) return false;
    const line = encodeLine({ to: mailbox.address, seq: 0, payload: { event } }, { n: 0, durable: 0 });
    return mailbox.bytes + Buffer.byteLength(line) > limits.inboxBytes;
  }

  async #makeRoom(used: UsedMailbox, event: AgentEvent): Promise<void> {
    this.#learn(used, await handledUpTo(used.stored), false);
    if (!this.#isFull(used, event)) return;
    const { agentName, instanceKey } = used.mailbox.address;
    const waiting = `${used.pending.size} events waiting, ${used.mailbox.bytes} bytes`;
    const whose = `agent ${agentName}, instance ${JSON.stringify(instanceKey)}`;
    throw new GoondanError('E_INBOX_FULL', `The inbox of ${whose} is full: ${waiting}`, { retryable: true });
  }

  #forgetOldest(): void {
    for (const [key, { pending }] of this.#used) {
      if (this.#idCount + this.#used.size <= MOST_IDS) return;
      if (pending.size === 0) this.#forget(key);
    }
  }

  #forget(key: string): void {
    const used = this.#used.get(key);
    if (!used) return;
    this.#idCount -= used.handled.size;
    this.#used.delete(key);
    this.#forgotten.add(key);
  }

  /** Finishes deletions that a crash interrupted: an instance without its folder is deleted. */
  async #endDeletions(): Promise<void> {
    for (const { deleting, address } of this.contents.mailboxes.values()) {
      if (deleting === undefined) continue;
      const { fs, paths } = this.place.storedAt(address);
      // The process that renamed the folder may have died before its sync.
      await fs.syncFolder(dirname(paths.folder));
      await this.endDeletion(address, (await fs.stat(paths.folder)) === undefined);
    }
  }

  async #plan(isWhole: boolean) {
    const { contents, place, log } = this;
    const segments = contents.segments.map((segment) =>
      segment.number === log.current.number ? { ...segment, bytes: log.current.bytes } : segment,
    );
    const plan = await planCompaction({
      segments: contents.lost ? [] : segments,
      mailboxes: contents.mailboxes.values(),
      short: place.limits.inboxCompactionBytes,
      isWhole,
      refresh: (mailbox) => this.#refresh(mailbox),
      keepAside: async ({ path }) =>
        void (await corruptStore(place.storedAt({ agentName: '', instanceKey: '' }), path, 'its lines are moved')),
    });
    await this.syncCommits();
    const first = contents.lost ? (segments[0]?.number ?? 1) : plan.first;
    return {
      ...plan,
      first,
      moved: (number: number) => {
        plan.moved(number);
        contents.segments.splice(0, Infinity, ...segments.slice(plan.dropped.length), {
          ...log.current,
          isDamaged: false,
        });
      },
    };
  }

  async #refresh(mailbox: Mailbox): Promise<void> {
    const { address } = mailbox;
    const stored = this.place.storedAt(address);
    const handled = await handledUpTo(stored).catch(() => 0);
    const used = this.#used.get(keyOf(address));
    if (used) this.#learn(used, handled, false);
    else if (handled > mailbox.handled) {
      mailbox.take(handled);
      this.#unsynced.add(mailbox);
    }
  }

  /** Makes commits durable that were only read. Without it, their events must not leave the log. */
  async syncCommits(): Promise<void> {
    for (const mailbox of this.#unsynced) {
      const { handled, address } = mailbox;
      const { fs, paths } = this.place.storedAt(address);
      const log = (await fs.stat(paths.events)) && (await fs.openRoom(paths.events));
      try {
        await log?.sync();
      } finally {
        await log?.close();
      }
      mailbox.settled = Math.max(mailbox.settled, handled);
      this.#unsynced.delete(mailbox);
    }
  }
}
