/**
 * The inbox of a workspace, as its owner has it open: the log, and in memory the pending input of all instances.
 *
 * Invariants: 1. `accept` resolves only when the event is durable. 2. An id is accepted once; the last `rememberedEvents`
 * handled ids of an instance stay known. 3. An event leaves the log only when the commit of its turn is durable. 4. `cancel`
 * resolves only when the mark is durable. 5. `accept` does no work that grows with the history or with the number of
 * instances: for an instance that was used lately it is one write.
 */
import { dirname } from 'node:path';
import type { AgentAddress, AgentEvent } from '@goondan/types';
import type { StoreLimits } from '../limits.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { type HandledNumbers, NOTHING_HANDLED } from '../records/log-state.ts';
import { readHandledNumbers } from '../records/read-log.ts';
import { copyLines, planCompaction } from './compact-inbox.ts';
import { eraseDeleted } from './erase-deleted.ts';
import { KnownIds, readHandled } from './handled-ids.ts';
import { type InboxEntry, type InboxPayload, payloadText } from './inbox-line.ts';
import { InboxLog, type InboxPlace, removeSegment } from './inbox-log.ts';
import { fullInbox, isFull } from './inbox-room.ts';
import { segmentPath } from './inbox-segments.ts';
import { type InputProgress, NO_PROGRESS, readProgress } from './input-progress.ts';
import { type InstanceInbox, lostLine } from './instance-inbox.ts';
import { type InboxContents, type InboxDamage, isUnchanged, keyOf, readInboxLog } from './read-inbox-log.ts';
import { NO_SEGMENT, type OwnLogPlace, readOwnLog } from './read-own-log.ts';
import { reportDamage } from './report-damage.ts';
import { syncCommits } from './sync-commits.ts';
import { type UsedInbox, UsedInboxes } from './used-inboxes.ts';

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

export interface OpenInboxPlace extends InboxPlace, OwnLogPlace {
  readonly limits: StoreLimits;
  /** Returns true if the instance had a folder when the inbox was opened. */
  readonly mayHaveRun: (address: AgentAddress) => boolean;
}

export class OpenInbox {
  readonly #used: UsedInboxes;
  #log: InboxLog | undefined;

  private constructor(
    private readonly place: OpenInboxPlace,
    private readonly contents: InboxContents,
  ) {
    this.#used = new UsedInboxes(place.limits.inboxIds);
  }

  /** Opens the log, and repairs it after a crash. **Errors** — `E_FENCED`; those of the disk. */
  static async open(place: OpenInboxPlace): Promise<OpenInbox> {
    place.fence?.();
    const contents = await readOwnLog(place);
    const inbox = new OpenInbox(place, contents);
    const missing = copyLines(contents.inboxes.values(), new Set([NO_SEGMENT.segment]));
    const moved = (number: number) => {
      missing.moved(number);
      contents.segments.push({ number, path: segmentPath(place.folder, number), bytes: 0, isDamaged: false });
    };
    inbox.#log = await InboxLog.open(place, contents, (isWhole) => inbox.#plan(isWhole), { ...missing, moved });
    try {
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

  /** Returns true if this is the error of a call that came after `close`. Nothing was written then. */
  isRefusal(error: unknown): boolean {
    return this.log.refusal !== undefined && this.log.refusal === error;
  }

  /** **Errors** — `E_INBOX_FULL`, retryable; `E_STORE_CORRUPT`; those of the disk. The event is then not accepted. */
  accept(address: AgentAddress, event: AgentEvent): Promise<Accepted> {
    return this.#hold(address, (used) => this.#acceptFor(used, event));
  }

  /** Makes room for an event, or refuses it. Writes only which events were handled. **Errors** — those of `accept`. */
  checkRoom(address: AgentAddress, event: AgentEvent): Promise<void> {
    return this.#hold(address, async (used) => {
      const bytes = Buffer.byteLength(payloadText({ event }));
      const isKnown = used.handled.has(event.id) || used.pending.has(event.id);
      if (!isKnown && isFull(used, bytes)) await this.#makeRoom(used, bytes);
    });
  }

  async #acceptFor(used: UsedInbox, event: AgentEvent): Promise<Accepted> {
    if (used.handled.has(event.id)) return { accepted: true, duplicate: true };
    const known = used.pending.get(event.id);
    if (known) {
      await known.writing;
      const pending = await this.#findPending(used, event.id);
      return { accepted: true, duplicate: true, ...(pending && { pending }) };
    }
    const payload = { event };
    const text = payloadText(payload);
    const bytes = Buffer.byteLength(text);
    // Without a pause, if there is room: another event would count as not written yet.
    if (isFull(used, bytes)) await this.#makeRoom(used, bytes);
    return { accepted: true, duplicate: false, ...(await this.#append(used, payload, text)) };
  }

  /**
   * Marks a pending event as cancelled. Returns false when no pending event has this id. A second call changes nothing.
   * The limits of the inbox do not apply, because an event has at most one mark.
   */
  cancel(address: AgentAddress, eventId: string, reason: string): Promise<boolean> {
    return this.#hold(address, async (used) => {
      await used.pending.get(eventId)?.writing;
      const entry = await this.#findPending(used, eventId);
      if (entry === undefined || entry.cancelled !== undefined) return entry !== undefined;
      await this.#append(used, { cancels: entry.seq, reason });
      return true;
    });
  }

  /** Lists the pending events. `handled`: the handled input, if the caller knows it. */
  async pendingEntries(address: AgentAddress, handled?: HandledNumbers): Promise<readonly InboxEntry[]> {
    const inbox = this.contents.inboxes.get(keyOf(address));
    if (!this.contents.lost && (!inbox || inbox.isEmpty)) return [];
    return this.#hold(address, async ({ inbox: held, stored }) => {
      held.commit(handled ?? (await readHandledNumbers(stored)));
      return held.entries();
    });
  }

  /** Notes that the commit of an event's turn is durable. `isTaken`: another turn took it. */
  handled(address: AgentAddress, eventId: string, isTaken: boolean): void {
    const used = this.#used.find(keyOf(address));
    const seq = used?.pending.get(eventId)?.seq;
    if (!used || seq === undefined) return;
    this.#used.settle(used.inbox, isTaken ? { handled: 0, taken: [seq] } : { handled: seq, taken: [] });
    used.inbox.seenIn = this.#nextSegment;
    this.log.note(used.inbox.address, used.inbox.handled);
  }

  /** Notes durably that the line of an interrupted turn is lost, before the log of the instance forgets the turn. */
  async keepLost(address: AgentAddress): Promise<void> {
    const { handled, begun: seq } = await readProgress(this.place.storedAt(address));
    const inbox = this.#inboxOf(address);
    if (seq <= Math.max(handled, inbox.handled) || inbox.lines.has(seq)) return;
    const payload = { lost: [seq] };
    await this.log.write({ to: inbox.address, seq, payload }, (written) => inbox.add(seq, { payload, ...written }));
  }

  /** The number of instances in memory. */
  get size(): number {
    return this.contents.inboxes.size;
  }

  has(address: AgentAddress): boolean {
    return this.contents.inboxes.get(keyOf(address))?.isEmpty === false;
  }

  /** Lists the instances with lines that are not known as handled. */
  addresses(): AgentAddress[] {
    return [...this.contents.inboxes.values()].flatMap(({ isEmpty, address }) => (isEmpty ? [] : [address]));
  }

  /** Notes durably that the folder of the instance is about to be renamed. */
  async beginDeletion(address: AgentAddress): Promise<void> {
    await this.#write(this.#inboxOf(address), { deleting: true });
  }

  /** Ends a deletion. `isDeleted`: if true, all input of the instance up to now is deleted. */
  async endDeletion(address: AgentAddress, isDeleted: boolean): Promise<void> {
    await this.#write(this.#inboxOf(address), isDeleted ? { deleted: true } : { kept: true });
    if (isDeleted) this.#used.drop(keyOf(address));
  }

  /** Removes the lines of deleted instances from the files. Never rejects. */
  eraseDeleted(): Promise<void> {
    return eraseDeleted(this.place, this.contents, this.log);
  }

  /** True if a file is damaged. Damage of a file that was removed cannot be repaired. */
  get isDamaged(): boolean {
    return this.contents.lost !== undefined || this.contents.segments.some(({ isDamaged }) => isDamaged);
  }

  /** Returns true if the files are whole again, because a person has repaired them. */
  async isRepaired(): Promise<boolean> {
    const { fs, folder } = this.place;
    if (await isUnchanged(fs, folder, this.contents)) return false;
    const { damage, inboxes } = await readInboxLog(fs, folder, true);
    return damage.length === 0 && [...inboxes.values()].every(({ damaged }) => damaged.size === 0);
  }

  close(): Promise<void> {
    return this.log.close();
  }

  get log(): InboxLog {
    if (!this.#log) throw new Error('the inbox log is not open');
    return this.#log;
  }

  /** Holds the instance while `act` runs, so that it is not forgotten. */
  async #hold<Value>(address: AgentAddress, act: (used: UsedInbox) => Promise<Value>): Promise<Value> {
    const used = this.#used.hold(keyOf(address)) ?? (await this.#use(address));
    try {
      return await act(used);
    } finally {
      used.calls -= 1;
    }
  }

  /**
   * Reads what the first use of an instance needs, and holds the instance for a call. **Errors** — `E_STORE_CORRUPT`, and
   * those of reading.
   */
  async #use(address: AgentAddress): Promise<UsedInbox> {
    const key = keyOf(address);
    const stored = this.place.storedAt(address);
    const hasEvents = (this.contents.inboxes.get(key)?.events ?? 0) > 0;
    const mayHaveRun = this.#used.hasForgotten || this.place.mayHaveRun(address) || hasEvents;
    const read = mayHaveRun ? await readHandled(stored) : { ...NO_PROGRESS, ids: [] };
    const inbox = this.#inboxOf(address);
    await this.#refuseDamage(inbox, read);
    // Another call may have been quicker.
    const again = this.#used.hold(key);
    if (again) return again;
    const handled = new KnownIds(read.ids, stored.limits.rememberedEvents);
    inbox.commit(read);
    const used: UsedInbox = { inbox, stored, handled, pending: new Map(), calls: 1 };
    for (const [seq, { payload }] of inbox.lines) if ('event' in payload) used.pending.set(payload.event.id, { seq });
    this.#used.add(key, used);
    return used;
  }

  async #refuseDamage(inbox: InstanceInbox, progress: InputProgress): Promise<void> {
    const { lost } = this.contents;
    const damage = lost && inbox.deletedAt <= lost.n ? lost : (inbox.problem(progress) ?? this.#lose(inbox, progress));
    if (!damage) return;
    throw await reportDamage(this.place.storedAt(inbox.address), this.place.folder, this.contents, damage);
  }

  /** Notes the line of a turn that has begun as lost, if it is not in the log. The newest segment must have had it. */
  #lose(inbox: InstanceInbox, { handled, begun }: InputProgress): InboxDamage | undefined {
    if (begun <= Math.max(handled, inbox.written)) return undefined;
    const { number: segment, path } = this.log.current;
    inbox.lose(begun, { segment, path: '' });
    return { ...lostLine(begun), path };
  }

  /** A duplicate that waits for this write gets its error, too. */
  #append({ inbox, pending }: UsedInbox, payload: InboxPayload, text?: string): Promise<{ seq: number }> {
    const writing = this.#write(inbox, payload, text);
    if ('event' in payload) pending.set(payload.event.id, { seq: inbox.last, writing });
    return writing;
  }

  async #write(inbox: InstanceInbox, payload: InboxPayload, text = payloadText(payload)): Promise<{ seq: number }> {
    const seq = ++inbox.last;
    inbox.seenIn = this.#nextSegment;
    // The first pending line says which numbers are not needed any more.
    const handled = inbox.lines.size === 0 && inbox.handled > 0 ? inbox.handled : undefined;
    const bytes = Buffer.byteLength(text);
    inbox.queuedBytes += bytes;
    try {
      const line = { to: inbox.address, seq, payload, text, handled };
      await this.log.write(line, (written) => inbox.add(seq, { payload, ...written }, written.n));
      return { seq };
    } finally {
      inbox.queuedBytes -= bytes;
    }
  }

  #inboxOf(address: AgentAddress): InstanceInbox {
    return this.contents.inboxOf(address, this.#nextSegment);
  }

  /** The last segment in which a line or a note can be that is written now. */
  get #nextSegment(): number {
    return this.log.current.number + 1;
  }

  /** Makes commits durable that were only read, and takes out their lines. If that fails, the lines stay. */
  async #settle(inbox: InstanceInbox): Promise<void> {
    if (!inbox.isUnsettled) return;
    const numbers = { handled: inbox.committed, taken: [...inbox.ahead] };
    const stored = this.place.storedAt(inbox.address);
    try {
      await syncCommits(stored);
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.place.warn({ path: stored.paths.events, message: `could not be synced, so its input stays: ${reason}` });
      return;
    }
    this.#used.settle(inbox, numbers);
    // The log of the instance does not know of marks, which are taken out with the events before them.
    this.log.note(inbox.address, inbox.handled);
  }

  async #findPending(used: UsedInbox, eventId: string): Promise<InboxEntry | undefined> {
    const find = () => used.inbox.entries().find(({ event }) => event.id === eventId);
    // The log of the instance is read again, because the process of the instance may have handled the event meanwhile.
    if (find()) used.inbox.commit(await readHandledNumbers(used.stored));
    return find();
  }

  async #makeRoom(used: UsedInbox, bytes: number): Promise<void> {
    used.inbox.commit(await readHandledNumbers(used.stored));
    await this.#settle(used.inbox);
    if (isFull(used, bytes)) throw fullInbox(used);
  }

  /** Finishes deletions that a crash interrupted: an instance without its folder is deleted. */
  async #endDeletions(): Promise<void> {
    for (const { deleting, address } of this.contents.inboxes.values()) {
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
      inboxes: contents.inboxes.values(),
      short: place.limits.inboxCompactionBytes,
      isWhole,
      refresh: (inbox) => this.#refresh(inbox),
      keepAside: async ({ path }) =>
        void (await corruptStore(place.storedAt({ agentName: '', instanceKey: '' }), path, 'its lines are moved')),
    });
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
        contents.forgetIdle(first, (key) => this.#used.find(key) !== undefined);
      },
    };
  }

  async #refresh(inbox: InstanceInbox): Promise<void> {
    inbox.commit(await readHandledNumbers(this.place.storedAt(inbox.address)).catch(() => NOTHING_HANDLED));
    await this.#settle(inbox);
  }
}
