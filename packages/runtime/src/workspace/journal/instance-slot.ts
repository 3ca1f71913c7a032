/**
 * The parts of one instance that this process has open: the lock and the writer, if the process owns the instance. After a
 * disk error, the next use opens the writer again from the state on disk.
 */
import { basename } from 'node:path';
import type { StoredInstance } from '../layout/instance-paths.ts';
import type { DiskPace } from '../log-file/disk-pace.ts';
import { acquireLock, type Lock } from '../lock/acquire-lock.ts';
import { readClosedBy } from '../records/read-metadata.ts';
import type { IndexNotes } from './index-notes.ts';
import { InstanceFiles } from './instance-files.ts';
import { takenKey } from './instance-refusals.ts';
import { InstanceWriter } from './instance-writer.ts';
import { newUuid } from '../../ports/ids.ts';

/**
 * The epoch of a writer is the lock's epoch times this number, plus a counter. So epochs also grow from one lock owner
 * to the next.
 */
const EPOCHS_PER_OWNER = 2 ** 32;

export class InstanceSlot {
  readonly #holder = newUuid();
  #turns: Promise<unknown> = Promise.resolve();
  /** The number of actions that are in `#turns` and not over. */
  #unfinished = 0;
  #users = 0;
  #writer: InstanceWriter | undefined;
  /** The files of the writer. */
  #files: InstanceFiles | undefined;
  #lock: Lock | undefined;
  /** True if the checkpoint has the epoch of the lock, so that the lock file is not needed any more. */
  #isRecorded = false;
  /** The newest epoch that a checkpoint was seen to have. */
  #closedBy = 0;
  #openings = 0;

  /** The folder of all instances must exist and be durable. */
  constructor(
    readonly stored: StoredInstance,
    private readonly pace: DiskPace,
    private readonly notes: IndexNotes,
  ) {}

  /** The writer, even if a disk error has stopped it. */
  get writer(): InstanceWriter | undefined {
    return this.#writer;
  }

  get isIdle(): boolean {
    return this.#users === 0 && this.#writer === undefined;
  }

  /** True when nothing is open and no call is about to open anything. */
  get isClosed(): boolean {
    return this.isIdle && this.#lock === undefined;
  }

  /** Opens the writer. **Errors** — `E_LOCKED` while another process owns the instance; those of recovery. */
  async openWriter(): Promise<InstanceWriter> {
    const open = this.#unfinished === 0 ? this.#openedWriter : undefined;
    return open ?? this.#using(() => this.#inTurn(() => this.#openWriter()));
  }

  /**
   * Runs one action with the writer. Closes the instance afterwards, unless this process had already opened it before.
   * If closing fails, the action still counts, and the lock is released at the next use.
   *
   * **Errors** — those of `openWriter`.
   */
  withWriter<T>(action: (writer: InstanceWriter) => Promise<T>): Promise<T> {
    const act = async () => {
      const wasOpen = this.#writer !== undefined;
      const writer = await this.#openWriter();
      try {
        return await action(writer);
      } finally {
        if (!wasOpen) await this.#giveBack();
      }
    };
    return this.#using(() => this.#inTurn(act));
  }

  /**
   * Holds the lock with no files open and runs `action`, which moves the folder away. The lock file moves with the
   * folder.
   *
   * **Errors** — `E_LOCKED` while another process owns the instance, `E_STORE_ORDER` while a turn is running in this
   * process; those of `action`, after which the lock is released.
   */
  leave<T>(action: () => Promise<T>): Promise<T> {
    const act = async () => {
      this.#writer?.refuseInTurn('be deleted');
      await this.#closeWriter();
      if (this.#lock && !this.#lock.isHeld()) this.#lock = undefined;
      this.#lock ??= await this.#acquireLock();
      try {
        return await action();
      } finally {
        // If the action moved the folder away, the lock file moved with it and there is nothing to release.
        await this.#releaseLock();
      }
    };
    return this.#using(() => this.#inTurn(act));
  }

  /**
   * Runs `action`, which creates the complete folder. `isTaken` must return false before.
   *
   * **Errors** — `E_INSTANCE_EXISTS`; those of `action`.
   */
  arrive<T>(isTaken: () => Promise<boolean>, action: () => Promise<T>): Promise<T> {
    const act = async () => {
      if (await isTaken()) throw takenKey(this.stored.address);
      return action();
    };
    return this.#using(() => this.#inTurn(act));
  }

  /** Returns the writer if this process owns the instance. After a disk error, loads the writer again first. */
  async ownedWriter(): Promise<InstanceWriter | undefined> {
    await this.releaseUnused();
    const isOwned = () => this.#writer !== undefined && this.#lock?.isHeld() === true;
    if (!isOwned()) return undefined;
    if (this.#unfinished === 0 && this.#openedWriter) return this.#openedWriter;
    // A running `withWriter` may give the instance back first.
    return this.#using(() => this.#inTurn(async () => (isOwned() ? this.#openWriter() : undefined)));
  }

  /** Releases the lock, if an earlier release failed. Returns `undefined` when there is nothing to release. */
  releaseUnused(): Promise<void> | undefined {
    return this.#lock && !this.#writer ? this.#inTurn(() => this.#releaseUnused()) : undefined;
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#closeWriter();
      await this.#releaseLock();
    });
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    this.#unfinished += 1;
    const result = this.#turns.then(action).finally(() => void (this.#unfinished -= 1));
    this.#turns = result.catch(() => undefined);
    return result;
  }

  async #using<T>(action: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await action();
    } finally {
      this.#users -= 1;
    }
  }

  /** The writer, if it can be used as it is. */
  get #openedWriter(): InstanceWriter | undefined {
    return this.#writer && !this.#writer.failed && this.#lock?.isHeld() ? this.#writer : undefined;
  }

  async #openWriter(): Promise<InstanceWriter> {
    const open = this.#openedWriter;
    if (open) return open;
    await this.#closeWriter();
    if (this.#lock && !this.#lock.isHeld()) this.#lock = undefined;
    // The checkpoint says that this epoch writes nothing any more.
    if (this.#isRecorded) await this.#release();
    // The name of the folder becomes durable with the log.
    await this.stored.fs.makeFolder(this.stored.paths.folder);
    this.#lock ??= await this.#acquireLock();
    try {
      this.#writer = await this.#loadWriter(this.#lock);
    } catch (error) {
      await this.#releaseLock();
      throw error;
    }
    return this.#writer;
  }

  async #acquireLock(): Promise<Lock> {
    const { fs, processes, paths, address } = this.stored;
    const what = `Agent ${address.agentName}, instance ${JSON.stringify(address.instanceKey)},`;
    const recordedEpoch = async () => Math.max(this.#closedBy, await readClosedBy(this.stored));
    const lock = await acquireLock({ fs, processes, holder: this.#holder, what, recordedEpoch }, paths.lock);
    this.#isRecorded = false;
    return lock;
  }

  /** Loads the writer. Takes the lock again if its epoch is not above that of the checkpoint. */
  async #loadWriter(lock: Lock): Promise<InstanceWriter> {
    const nextEpoch = () => lock.epoch * EPOCHS_PER_OWNER + ++this.#openings;
    const files = await InstanceFiles.load(this.stored, this.pace, lock);
    if (files instanceof InstanceFiles) {
      this.#files = files;
      const describe = async () => this.#writer?.between(() => files.describe());
      return new InstanceWriter(files, { nextEpoch, onCommit: () => this.notes.add(this.#name, describe) });
    }
    this.#closedBy = files.closedBy;
    this.#isRecorded = true;
    await this.#release();
    this.#lock = await this.#acquireLock();
    return this.#loadWriter(this.#lock);
  }

  get #name(): string {
    return basename(this.stored.paths.folder);
  }

  async #closeWriter(): Promise<void> {
    if (!this.#writer) return;
    const isClosed = await this.#writer.close().then(
      () => true,
      () => false,
    );
    const files = isClosed ? this.#files : undefined;
    this.#writer = undefined;
    this.#files = undefined;
    this.#isRecorded = files?.isRecorded === true;
    this.notes.add(this.#name, async () => files?.entry);
  }

  async #releaseUnused(): Promise<void> {
    if (!this.#writer) await this.#releaseLock();
  }

  /** Closes the writer and releases the lock. If it rejects, this process still holds the lock. */
  async #giveBack(): Promise<void> {
    await this.#closeWriter();
    await this.#release();
  }

  async #release(): Promise<void> {
    await this.#lock?.release(this.#isRecorded);
    this.#lock = undefined;
    this.#isRecorded = false;
  }

  /** Releases the lock. If the release fails, this process holds the lock until the next attempt, or until it exits. */
  async #releaseLock(): Promise<void> {
    await this.#release().catch(() => undefined);
  }
}
