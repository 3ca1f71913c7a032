/**
 * The inbox of a workspace. The process that accepts input opens the log; after a disk error, the next use opens it again
 * from the state on disk. All other processes only read.
 */
import type { AgentAddress, AgentEvent } from '@goondan/types';
import {
  inboxFolder,
  instanceFolderName,
  instancesFolder,
  isAside,
  type StoredInstance,
} from '../layout/instance-paths.ts';
import type { StoreLimits } from '../limits.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import { readSettled } from '../lines/read-settled.ts';
import type { DiskPace } from '../log-file/disk-pace.ts';
import type { HandledNumbers } from '../records/log-state.ts';
import type { StorePorts } from '../store-ports.ts';
import { findMissing } from './find-missing.ts';
import type { InboxEntry } from './inbox-line.ts';
import { InboxReader } from './inbox-reader.ts';
import { readProgress } from './input-progress.ts';
import { type Accepted, OpenInbox } from './open-inbox.ts';
import { keyOf } from './read-inbox-log.ts';

export interface WorkspaceInboxPlace extends StorePorts {
  readonly workspace: string;
  readonly limits: StoreLimits;
  readonly pace: DiskPace;
  readonly storedAt: (address: AgentAddress) => StoredInstance;
}

export class WorkspaceInbox {
  readonly #reader: InboxReader;
  #opening: Promise<OpenInbox> | undefined;
  #open: OpenInbox | undefined;
  /** Calls that are writing, of all instances. */
  readonly #writing = new Set<Promise<unknown>>();
  /** Instances for which nothing is accepted at the moment. */
  readonly #alone = new Map<string, Promise<void>>();

  constructor(private readonly place: WorkspaceInboxPlace) {
    this.#reader = new InboxReader(place, inboxFolder(place.workspace));
  }

  /** Opens the log and repairs it. Only for the owner of the workspace; the first `accept` does the same. */
  async open(): Promise<OpenInbox> {
    if (this.#open && !this.#open.failed) return this.#open;
    this.#opening ??= this.#openAgain().finally(() => (this.#opening = undefined));
    return this.#opening;
  }

  accept(address: AgentAddress, event: AgentEvent): Promise<Accepted> {
    return this.#write(address, (inbox) => inbox.accept(address, event));
  }

  checkRoom(address: AgentAddress, event: AgentEvent): Promise<void> {
    return this.#write(address, (inbox) => inbox.checkRoom(address, event));
  }

  cancel(address: AgentAddress, eventId: string, reason: string): Promise<boolean> {
    return this.#write(address, (inbox) => inbox.cancel(address, eventId, reason));
  }

  /** Runs `action` while nothing is accepted for the instance: earlier events are written, and later ones wait. */
  async alone<Value>(address: AgentAddress, action: (inbox: OpenInbox) => Promise<Value>): Promise<Value> {
    const key = keyOf(address);
    await this.#alone.get(key);
    const running = Promise.allSettled(this.#writing).then(async () => action(await this.open()));
    const ended = running.then(
      () => undefined,
      () => undefined,
    );
    this.#alone.set(key, ended);
    try {
      return await running;
    } finally {
      if (this.#alone.get(key) === ended) this.#alone.delete(key);
    }
  }

  /** Lists the pending events. `handled`: the handled input, if the caller knows it. */
  async pendingEntries(
    address: AgentAddress,
    handled?: HandledNumbers,
    stored = this.place.storedAt(address),
  ): Promise<readonly InboxEntry[]> {
    if (this.#open) return this.#act((inbox) => inbox.pendingEntries(address, handled));
    return readSettled(stored, async (settled) => {
      const progress = handled ? { ...handled, begun: handled.handled } : await readProgress(settled);
      return this.#reader.pending(settled, progress);
    });
  }

  /**
   * Notes that the commit of an event's turn is durable. `isTaken`: true if the event came into the turn of another one.
   * Does nothing in a process that does not accept input.
   */
  handled(address: AgentAddress, eventId: string, isTaken = false): void {
    if (this.#open && !this.#open.failed) this.#open.handled(address, eventId, isTaken);
  }

  /** Keeps the damage of an instance whose interrupted turn is about to be forgotten. Only for the owner of the log. */
  async keepLost(address: AgentAddress): Promise<void> {
    if (this.#open) await this.#act((inbox) => inbox.keepLost(address));
  }

  /** Returns true if the log has lines of the instance that are not known as handled, damaged or not. */
  async has(address: AgentAddress): Promise<boolean> {
    return this.#open ? (await this.open()).has(address) : this.#reader.has(this.place.storedAt(address));
  }

  /** Lists the instances that may have pending input. */
  async addresses(): Promise<AgentAddress[]> {
    return this.#open ? (await this.open()).addresses() : this.#reader.addresses(this.place.storedAt);
  }

  async close(): Promise<void> {
    await this.#opening?.catch(() => undefined);
    await this.#open?.close();
    this.#open = undefined;
  }

  async #write<Value>(address: AgentAddress, action: (inbox: OpenInbox) => Promise<Value>): Promise<Value> {
    for (let gate = this.#alone.get(keyOf(address)); gate; gate = this.#alone.get(keyOf(address))) await gate;
    const writing = this.#act(action);
    this.#writing.add(writing);
    try {
      return await writing;
    } finally {
      this.#writing.delete(writing);
    }
  }

  async #act<Value>(action: (inbox: OpenInbox) => Promise<Value>): Promise<Value> {
    const inbox = this.#open && !this.#open.failed ? this.#open : await this.open();
    try {
      return await action(inbox);
    } catch (error) {
      // Another call may have closed the log, to open it again.
      const isRefused = inbox.isRefusal(error);
      if (!isRefused && !(isCorrupt(error) && (await this.#isChanged(inbox)))) throw error;
      await inbox.close();
      return action(await this.open());
    }
  }

  /** Returns true if a person has repaired the damaged files since they were read. */
  async #isChanged(inbox: OpenInbox): Promise<boolean> {
    return inbox.isDamaged && (await inbox.isRepaired());
  }

  async #openAgain(): Promise<OpenInbox> {
    await this.#open?.close();
    const { fs, workspace, fence } = this.place;
    const folder = inboxFolder(workspace);
    const instances = instancesFolder(workspace);
    fence?.();
    await fs.makeFolder(folder);
    await fs.syncFolder(workspace);
    const names = new Set(((await fs.list(instances)) ?? []).filter((name) => !isAside(name)));
    const mayHaveRun = ({ agentName, instanceKey }: AgentAddress) =>
      names.has(instanceFolderName(agentName, instanceKey));
    const findAll = () => findMissing({ ...this.place, instances }, names);
    this.#open = await OpenInbox.open({ ...this.place, folder, mayHaveRun, findMissing: findAll });
    return this.#open;
  }
}
