/**
 * Accepted input, on disk before anybody is told that it was accepted. Written by one process (the orchestrator), read
 * by the agent's. How far it was handled is not kept here but in the commit record, so that an event is handled exactly
 * when the turn that handled it is committed.
 *
 * Invariants: 1. `accept` resolves only when the event is durable. 2. An id is accepted once, and still known for the
 * last `rememberedEvents` handled ones after the event was taken out. 3. An event is taken out only when the commit
 * that handled it is durable. 4. `cancel` resolves only when it is durable that the event was cancelled; whoever handles
 * it then knows.
 */
import { type AgentAddress, type AgentEvent, GoondanError } from '@goondan/types';
import { refuseOtherInstance } from '../records/metadata.ts';
import { readMetadata } from '../records/read-metadata.ts';
import type { InstancePaths } from '../layout/instance-paths.ts';
import type { StoreLimits } from '../limits.ts';
import { AppendLog } from '../lines/append-log.ts';
import { corruptStore } from '../lines/corrupt-store.ts';
import { FailStop } from '../lines/fail-stop.ts';
import { mendTail } from '../lines/open-lines.ts';
import { readLines } from '../lines/read-lines.ts';
import { replaceFile } from '../lines/replace-file.ts';
import { sealLines } from '../lines/seal-lines.ts';
import type { StorePorts } from '../store-ports.ts';
import { entriesOf, headText, lineText, type InboxEntry, type InboxHead, type InboxLine } from './inbox-lines.ts';
import { readInbox, type InboxContents } from './read-inbox.ts';

/** On disk, now or since an earlier delivery of the same event. */
export type Accepted =
  | {
      readonly accepted: true;
      readonly duplicate: false;
      /** Its place in the order of the instance's events. */
      readonly seq: number;
      readonly pending?: never;
    }
  | {
      readonly accepted: true;
      /** It had been accepted before; nothing was written. */
      readonly duplicate: true;
      readonly seq?: never;
      /** The event as it was stored, while no committed turn has handled it. */
      readonly pending?: InboxEntry;
    };

export class Inbox {
  readonly #ports: StorePorts;
  readonly #paths: InstancePaths;
  readonly #limits: StoreLimits;
  readonly #serial: FailStop;
  #head: InboxHead;
  #lines: InboxLine[];
  /** The events among them. */
  #entries: InboxEntry[];
  #log: AppendLog;
  #known: Set<string>;
  /** As of the last look at the commit record; it only grows. */
  #handled: number;

  private constructor(
    ports: StorePorts,
    paths: InstancePaths,
    limits: StoreLimits,
    opened: InboxContents & { readonly log: AppendLog; readonly handled: number },
  ) {
    this.#ports = ports;
    this.#paths = paths;
    this.#limits = limits;
    this.#serial = new FailStop(paths.inbox);
    this.#head = opened.head;
    this.#lines = [...opened.lines];
    this.#entries = entriesOf(opened.lines);
    this.#log = opened.log;
    this.#known = knownIds(opened.head, this.#entries);
    this.#handled = opened.handled;
  }

  /** The instance's folder is there. **Errors** — `E_STORE_CORRUPT`, `E_STORE_INSTANCE`, `E_STORE_READ`. */
  static async open(
    ports: StorePorts,
    paths: InstancePaths,
    address: AgentAddress,
    limits: StoreLimits,
  ): Promise<Inbox> {
    ports.fence?.();
    const handled = await handledUpTo(ports, paths);
    const bytes = await ports.fs.read(paths.inbox);
    if (!bytes && handled > 0)
      throw await corruptStore(ports, paths.inbox, 'it is gone, but events of it were handled');
    if (!bytes) await writeInbox(ports, paths, { ...address, before: 0, handled: [] }, []);
    const read = readLines(bytes ?? (await ports.fs.read(paths.inbox)) ?? new Uint8Array());
    const contents = readInbox(read);
    if (typeof contents === 'string') throw await corruptStore(ports, paths.inbox, contents);
    refuseOtherInstance(paths.inbox, address, contents.head);

    const log = await AppendLog.open(ports.fs, paths.inbox);
    await mendTail(ports, log, read);
    // A killed process may have written events, or the file itself, without a sync; from now on they count as accepted.
    await log.sync();
    await ports.fs.syncFolder(paths.folder);
    const inbox = new Inbox(ports, paths, limits, { ...contents, log, handled });
    if (handled > inbox.#last) await inbox.#skipToHandled();
    return inbox;
  }

  /** The disk failed under it: it accepts nothing more until it is opened again. */
  get failed(): boolean {
    return this.#serial.failed;
  }

  /** **Errors** — `E_INBOX_FULL`, retryable; `E_DISK_FULL`, `E_FENCED` or `E_STORE_WRITE`, and then it was not accepted. */
  accept(event: AgentEvent): Promise<Accepted> {
    return this.#serial.run(async () => {
      if (this.#known.has(event.id)) return this.#duplicate(event.id);
      const entry = { seq: this.#last + 1, event };
      const line = sealLines([lineText(entry)]);
      await this.#makeRoom(line.length);
      // Synced before it resolves: what the sender is told must survive.
      await this.#append(line);
      this.#lines.push(entry);
      this.#entries.push(entry);
      this.#known.add(event.id);
      return { accepted: true, duplicate: false, seq: entry.seq };
    });
  }

  /**
   * False when no event that waits has this id; a second time changes nothing. It needs no room: an event has one mark at
   * most. **Errors** — `E_DISK_FULL` or `E_STORE_WRITE`, and then it is not marked.
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

  /** Fenced before, so that nothing of another owner is touched, and after: a file that is gone by then keeps nothing. */
  async #append(line: Uint8Array): Promise<void> {
    this.#ports.fence?.();
    await this.#log.append(line);
    this.#ports.fence?.();
  }

  close(): Promise<void> {
    return this.#log.close();
  }

  get #last(): number {
    return this.#head.before + this.#lines.length;
  }

  async #duplicate(eventId: string): Promise<Accepted> {
    const pending = await this.#findPending(eventId);
    return { accepted: true, duplicate: true, ...(pending && { pending }) };
  }

  async #findPending(eventId: string): Promise<InboxEntry | undefined> {
    const found = this.#entries.find(({ event }) => event.id === eventId);
    // Only the commit record knows: the agent's process handles events without telling this one.
    if (found && found.seq > this.#handled) this.#handled = await handledUpTo(this.#ports, this.#paths);
    return found && found.seq > this.#handled ? found : undefined;
  }

  async #makeRoom(bytes: number): Promise<void> {
    const { inboxEvents, inboxBytes, inboxCompactionBytes } = this.#limits;
    const isFull = () => this.#waiting().length >= inboxEvents || this.#log.size + bytes > inboxBytes;
    if (isFull() || this.#log.size > inboxCompactionBytes) await this.#takeOutHandled(isFull());
    if (!isFull()) return;
    const { agentName, instanceKey } = this.#head;
    const waiting = `${this.#waiting().length} events waiting, ${this.#log.size} bytes`;
    const whose = `agent ${agentName}, instance ${JSON.stringify(instanceKey)}`;
    throw new GoondanError('E_INBOX_FULL', `The inbox of ${whose} is full: ${waiting}`, { retryable: true });
  }

  /** Rewriting costs what is still waiting; unless it must be, it is done when at least half was handled. */
  async #takeOutHandled(mustBe: boolean): Promise<void> {
    this.#handled = await handledUpTo(this.#ports, this.#paths);
    const count = this.#entries.length - this.#waiting().length;
    if (count <= 0 || (!mustBe && count * 2 < this.#entries.length)) return;
    // The commit record that was just read may be in memory only: the event must not go before the commit stays.
    await this.#ports.fs.syncFolder(this.#paths.folder);
    await this.#rewrite();
  }

  /** As of the last look at the commit record. */
  #waiting(): InboxEntry[] {
    const first = this.#entries.findIndex(({ seq }) => seq > this.#handled);
    return first < 0 ? [] : this.#entries.slice(first);
  }

  /** Events the agent handled before they were durable, lost with the power, never acknowledged. */
  async #skipToHandled(): Promise<void> {
    const message = `lines ${this.#last + 1} to ${this.#handled} were handled but are not in the inbox`;
    this.#ports.warn({ path: this.#paths.inbox, message });
    await this.#rewrite();
  }

  /** Without what was handled. A mark stays until the events before it are gone, so that no number is missing. */
  async #rewrite(): Promise<void> {
    this.#ports.fence?.();
    const entries = this.#waiting();
    const gone = this.#entries.slice(0, this.#entries.length - entries.length).map(({ event }) => event.id);
    const handled = [...this.#head.handled, ...gone].slice(-this.#limits.rememberedEvents);
    const lines = this.#lines.filter(({ seq }) => seq > this.#handled);
    const head = { ...this.#head, before: this.#handled, handled };
    await writeInbox(this.#ports, this.#paths, head, lines);
    const old = this.#log;
    this.#log = await AppendLog.open(this.#ports.fs, this.#paths.inbox);
    this.#head = head;
    this.#lines = lines;
    this.#entries = entries;
    this.#known = knownIds(head, entries);
    await old.close();
  }
}

async function handledUpTo(ports: StorePorts, paths: InstancePaths): Promise<number> {
  return (await readMetadata(ports, paths.metadata))?.commit.inbox ?? 0;
}

async function writeInbox(
  ports: StorePorts,
  paths: InstancePaths,
  head: InboxHead,
  lines: readonly InboxLine[],
): Promise<void> {
  await replaceFile(ports.fs, paths.inbox, sealLines([headText(head), ...lines.map(lineText)]));
}

function knownIds(head: InboxHead, entries: readonly InboxEntry[]): Set<string> {
  return new Set([...head.handled, ...entries.map(({ event }) => event.id)]);
}
