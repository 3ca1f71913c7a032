/**
 * Stores accepted input on disk before the sender gets its acknowledgement. Only the orchestrator writes the inbox; the
 * agent process reads it. The number of the last handled event is in the log of the instance, so that committing a turn and
 * marking its event as handled are one write.
 *
 * Invariants: 1. `accept` resolves only when the event is durable. 2. An id is accepted once; the last
 * `rememberedEvents` handled ids stay known after their events are removed. 3. An event is removed only when the commit
 * of its turn is durable. 4. `cancel` resolves only when the mark is durable; from then on, the process that handles
 * the event sees the mark.
 */
import { type AgentEvent, GoondanError } from '@goondan/types';
import { refuseOtherInstance } from '../records/metadata.ts';
import { handledUpTo } from '../records/read-log.ts';
import type { StoredInstance } from '../layout/instance-paths.ts';
import { AppendLog } from '../lines/append-log.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { FailStop } from '../lines/fail-stop.ts';
import { mendTail } from '../lines/open-lines.ts';
import { readLines } from '../lines/read-lines.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { sealLines } from '../lines/seal-lines.ts';
import {
  entriesOf,
  headText,
  lineText,
  readInbox,
  type InboxEntry,
  type InboxHead,
  type InboxLine,
} from './inbox-lines.ts';

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

export class Inbox {
  readonly #serial: FailStop;
  #head: InboxHead;
  #lines: InboxLine[];
  /** The events in the file, without the cancel marks. */
  #entries: InboxEntry[];
  #log: AppendLog;
  #known: Set<string>;
  /** The number of the last handled event, when the commit record was last read. It only grows. */
  #handled: number;

  private constructor(
    private readonly stored: StoredInstance,
    { head, lines }: Exclude<ReturnType<typeof readInbox>, string>,
    log: AppendLog,
    handled: number,
  ) {
    this.#serial = new FailStop(stored.paths.inbox);
    this.#head = head;
    this.#lines = lines;
    this.#entries = entriesOf(lines);
    this.#log = log;
    this.#known = knownIds(head, this.#entries);
    this.#handled = handled;
  }

  /**
   * Opens the inbox; the folder of the instance must exist. **Errors** — `E_STORE_CORRUPT`, `E_STORE_INSTANCE`,
   * `E_STORE_READ`.
   */
  static async open(stored: StoredInstance): Promise<Inbox> {
    const { fs, paths, address } = stored;
    stored.fence?.();
    const handled = await handledUpTo(stored);
    const bytes = await fs.read(paths.inbox);
    if (!bytes && handled > 0)
      throw await corruptStore(stored, paths.inbox, 'it is missing, but events from it were handled');
    if (!bytes) await writeInbox(stored, { ...address, before: 0, handled: [] }, []);
    const read = readLines(bytes ?? (await fs.read(paths.inbox)) ?? new Uint8Array());
    const contents = readInbox(read);
    if (typeof contents === 'string') throw await corruptStore(stored, paths.inbox, contents);
    refuseOtherInstance(paths.inbox, address, contents.head);

    const log = await AppendLog.open(fs, paths.inbox);
    await mendTail(stored, log, read);
    // A killed process may have left events, or the file itself, without a sync. From now on these events count as
    // accepted, so they must be durable.
    await log.sync();
    await fs.syncFolder(paths.folder);
    const inbox = new Inbox(stored, contents, log, handled);
    if (handled > inbox.#last) await inbox.#skipToHandled();
    return inbox;
  }

  /** True after a disk error: every call is rejected until the inbox is opened again. */
  get failed(): boolean {
    return this.#serial.failed;
  }

  /**
   * Accepts an event. **Errors** — `E_INBOX_FULL`, retryable; `E_DISK_FULL`, `E_FENCED`, `E_STORE_WRITE`. After each of
   * these errors the event is not accepted.
   */
  accept(event: AgentEvent): Promise<Accepted> {
    return this.#serial.run(async () => {
      if (this.#known.has(event.id)) {
        const pending = await this.#findPending(event.id);
        return { accepted: true, duplicate: true, ...(pending && { pending }) };
      }
      const entry = { seq: this.#last + 1, event };
      const line = sealLines([lineText(entry)]);
      await this.#makeRoom(line.length);
      // The sync must come before the acknowledgement: an acknowledged event must survive a crash.
      await this.#append(line);
      this.#lines.push(entry);
      this.#entries.push(entry);
      this.#known.add(event.id);
      return { accepted: true, duplicate: false, seq: entry.seq };
    });
  }

  /**
   * Marks a pending event as cancelled. Returns false when no pending event has this id. A second call changes nothing.
   * The limits of the inbox do not apply, because an event has at most one mark. **Errors** — `E_DISK_FULL` or
   * `E_STORE_WRITE`; the event is then not marked.
   */
  cancel(eventId: string, reason: string): Promise<boolean> {
    return this.#serial.run(async () => {
      const entry = await this.#findPending(eventId);
      if (entry === undefined || entry.cancelled !== undefined) return entry !== undefined;
      const mark = { seq: this.#last + 1, cancels: entry.seq, reason };
      await this.#append(sealLines([lineText(mark)]));
      this.#lines.push(mark);
      this.#entries = entriesOf([mark], this.#entries);
      return true;
    });
  }

  /**
   * Appends a line, and checks the fence twice. The check before the write protects the files of another owner. The
   * check after the write detects that the file was deleted, because a write to a deleted file is lost.
   */
  async #append(line: Uint8Array): Promise<void> {
    const { fence } = this.stored;
    fence?.();
    await this.#log.append(line);
    fence?.();
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  get #last(): number {
    return this.#head.before + this.#lines.length;
  }

  async #findPending(eventId: string): Promise<InboxEntry | undefined> {
    const found = this.#entries.find(({ event }) => event.id === eventId);
    // The number is read again from the commit record, because the agent process handles events without notifying this
    // process.
    if (found && found.seq > this.#handled) this.#handled = await handledUpTo(this.stored);
    return found && found.seq > this.#handled ? found : undefined;
  }

  async #makeRoom(bytes: number): Promise<void> {
    const { inboxEvents, inboxBytes, inboxCompactionBytes } = this.stored.limits;
    const isFull = () => this.#waiting().length >= inboxEvents || this.#log.size + bytes > inboxBytes;
    if (isFull() || this.#log.size > inboxCompactionBytes) await this.#takeOutHandled(isFull());
    if (!isFull()) return;
    const { agentName, instanceKey } = this.#head;
    const waiting = `${this.#waiting().length} events waiting, ${this.#log.size} bytes`;
    const whose = `agent ${agentName}, instance ${JSON.stringify(instanceKey)}`;
    throw new GoondanError('E_INBOX_FULL', `The inbox of ${whose} is full: ${waiting}`, { retryable: true });
  }

  /**
   * Removes handled events. The cost of a rewrite grows with the number of pending events. So it runs only when half of
   * all events are handled, or when `mustBe` is true.
   */
  async #takeOutHandled(mustBe: boolean): Promise<void> {
    this.#handled = await handledUpTo(this.stored);
    const count = this.#entries.length - this.#waiting().length;
    if (count <= 0 || (!mustBe && count * 2 < this.#entries.length)) return;
    // The commit just read may not be on disk yet. An event must not be removed before its commit is durable.
    await this.#syncLog();
    await this.#rewrite();
  }

  async #syncLog(): Promise<void> {
    const log = await this.stored.fs.openRoom(this.stored.paths.events);
    try {
      await log.sync();
    } finally {
      await log.close();
    }
  }

  /** Returns the pending events, as of the last read of the commit record. */
  #waiting(): InboxEntry[] {
    const first = this.#entries.findIndex(({ seq }) => seq > this.#handled);
    return first < 0 ? [] : this.#entries.slice(first);
  }

  /**
   * Continues after the last handled number. Events up to that number were never acknowledged: the agent handled them
   * before they were durable, and a power loss removed them.
   */
  async #skipToHandled(): Promise<void> {
    const message = `lines ${this.#last + 1} to ${this.#handled} were handled but are not in the inbox`;
    this.stored.warn({ path: this.stored.paths.inbox, message });
    await this.#rewrite();
  }

  /**
   * Rewrites the file without handled events. A mark stays until all events before it are removed, so that the numbers
   * have no gap.
   */
  async #rewrite(): Promise<void> {
    const { fs, paths, limits, fence } = this.stored;
    fence?.();
    const entries = this.#waiting();
    const gone = this.#entries.slice(0, this.#entries.length - entries.length).map(({ event }) => event.id);
    const handled = [...this.#head.handled, ...gone].slice(-limits.rememberedEvents);
    const lines = this.#lines.filter(({ seq }) => seq > this.#handled);
    const head = { ...this.#head, before: this.#handled, handled };
    await writeInbox(this.stored, head, lines);
    const old = this.#log;
    this.#log = await AppendLog.open(fs, paths.inbox);
    this.#head = head;
    this.#lines = lines;
    this.#entries = entries;
    this.#known = knownIds(head, entries);
    await old.close();
  }
}

async function writeInbox({ fs, paths }: StoredInstance, head: InboxHead, lines: readonly InboxLine[]): Promise<void> {
  await replaceFile(fs, paths.inbox, sealLines([headText(head), ...lines.map(lineText)]));
}

function knownIds(head: InboxHead, entries: readonly InboxEntry[]): Set<string> {
  return new Set([...head.handled, ...entries.map(({ event }) => event.id)]);
}
