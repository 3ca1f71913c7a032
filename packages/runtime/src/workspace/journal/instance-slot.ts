/**
 * One instance as this process has it open: the inbox if it accepts for it, lock and writer if it owns it. Whatever the
 * disk failed under is opened anew at the next use, and looks at what is really there.
 */
import { dirname } from 'node:path';
import type { AgentAddress } from '@goondan/types';
import { Inbox } from '../inbox/inbox.ts';
import type { InstancePaths } from '../layout/instance-paths.ts';
import type { StoreLimits } from '../limits.ts';
import { acquireLock, type Lock } from '../lock/acquire-lock.ts';
import type { StorePorts } from '../store-ports.ts';
import { takenKey } from './instance-refusals.ts';
import { InstanceWriter } from './instance-writer.ts';
import { newUuid } from '../../ports/ids.ts';

/** The folder of all instances is there and durable. */
export interface SlotContext {
  readonly ports: StorePorts;
  readonly paths: InstancePaths;
  readonly address: AgentAddress;
  readonly limits: StoreLimits;
}

/** Epochs of one owner of the lock are numbered within the lock's own epoch, so that they grow across owners too. */
const EPOCHS_PER_OWNER = 2 ** 32;

export class InstanceSlot {
  readonly #context: SlotContext;
  readonly #holder = newUuid();
  #turns: Promise<unknown> = Promise.resolve();
  #inbox: Inbox | undefined;
  /** What is being done with the inbox. */
  readonly #inboxActions = new Set<Promise<unknown>>();
  #users = 0;
  #writer: InstanceWriter | undefined;
  #lock: Lock | undefined;
  #openings = 0;

  constructor(context: SlotContext) {
    this.#context = context;
  }

  get address(): AgentAddress {
    return this.#context.address;
  }

  get paths(): InstancePaths {
    return this.#context.paths;
  }

  /** The writer, as it is. */
  get writer(): InstanceWriter | undefined {
    return this.#writer;
  }

  get isIdle(): boolean {
    return this.#users === 0 && this.#writer === undefined;
  }

  /** Nothing of it is open and nobody is about to open something. */
  get isClosed(): boolean {
    return this.isIdle && this.#inbox === undefined && this.#lock === undefined;
  }

  withInbox<T>(action: (inbox: Inbox) => Promise<T>): Promise<T> {
    // Begun in turn, so that whoever comes next knows of it, and finished in its own time.
    const begin = async () => ({ acting: this.#tracked(action(await this.#openInbox())) });
    return this.#using(async () => (await this.#inTurn(begin)).acting);
  }

  /** **Errors** — `E_LOCKED` while another process owns the instance; those of recovery. */
  openWriter(): Promise<InstanceWriter> {
    return this.#using(() => this.#inTurn(() => this.#openWriter()));
  }

  /**
   * One action of a writer. The instance is given back after it, unless this process had it open before; when that fails
   * the action was done nevertheless, and the lock is given back at the next use.
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
   * Runs `action`, which moves the folder away, with the lock and with nothing of it open or in use. The lock goes with
   * the folder.
   *
   * **Errors** — `E_LOCKED` while another process owns the instance, `E_STORE_ORDER` while a turn is running in this
   * one; those of `action`, and then the lock is given back.
   */
  leave<T>(action: () => Promise<T>): Promise<T> {
    const act = async () => {
      this.#writer?.refuseInTurn('be deleted');
      await Promise.allSettled(this.#inboxActions);
      await this.#closeInbox();
      await this.#closeWriter();
      if (this.#lock && !(await this.#lock.isHeld())) this.#lock = undefined;
      this.#lock ??= await this.#acquireLock();
      try {
        return await action();
      } finally {
        // Where the folder is gone there is nothing to give back.
        await this.#releaseLock();
      }
    };
    return this.#using(() => this.#inTurn(act));
  }

  /**
   * Runs `action`, which makes the folder as a whole, while nothing of it is there or in use.
   *
   * **Errors** — `E_INSTANCE_EXISTS`; those of `action`.
   */
  arrive<T>(action: () => Promise<T>): Promise<T> {
    const act = async () => {
      const { ports, paths, address } = this.#context;
      if (await ports.fs.stat(paths.folder)) throw takenKey(address);
      return action();
    };
    return this.#using(() => this.#inTurn(act));
  }

  /** The writer when this process owns the instance, loaded again if the disk had failed under it. */
  async ownedWriter(): Promise<InstanceWriter | undefined> {
    await this.releaseUnused();
    return this.#writer && (await this.#lock?.isHeld()) ? this.openWriter() : undefined;
  }

  /** Gives a lock back that could not be given back before. */
  async releaseUnused(): Promise<void> {
    if (this.#lock && !this.#writer) await this.#inTurn(() => this.#releaseUnused());
  }

  close(): Promise<void> {
    return this.#inTurn(async () => {
      await this.#closeInbox();
      await this.#closeWriter();
      await this.#releaseLock();
    });
  }

  #inTurn<T>(action: () => Promise<T>): Promise<T> {
    const result = this.#turns.then(action);
    this.#turns = result.catch(() => undefined);
    return result;
  }

  #tracked<T>(action: Promise<T>): Promise<T> {
    const ended = action.then(
      () => undefined,
      () => undefined,
    );
    this.#inboxActions.add(ended);
    void ended.then(() => this.#inboxActions.delete(ended));
    return action;
  }

  async #using<T>(action: () => Promise<T>): Promise<T> {
    this.#users += 1;
    try {
      return await action();
    } finally {
      this.#users -= 1;
    }
  }

  async #openWriter(): Promise<InstanceWriter> {
    const isOurs = this.#lock !== undefined && (await this.#lock.isHeld());
    if (this.#writer && isOurs && !this.#writer.failed) return this.#writer;
    await this.#closeWriter();
    if (!isOurs) this.#lock = undefined;
    await this.#makeFolder();
    this.#lock ??= await this.#acquireLock();
    try {
      this.#writer = await this.#loadWriter(this.#lock);
    } catch (error) {
      await this.#releaseLock();
      throw error;
    }
    return this.#writer;
  }

  async #openInbox(): Promise<Inbox> {
    await this.#releaseUnused();
    if (this.#inbox && !this.#inbox.failed) return this.#inbox;
    await this.#closeInbox();
    await this.#makeFolder();
    const { ports, paths, address, limits } = this.#context;
    this.#inbox = await Inbox.open(ports, paths, address, limits);
    return this.#inbox;
  }

  #acquireLock(): Promise<Lock> {
    const { ports, paths, address } = this.#context;
    const what = `Agent ${address.agentName}, instance ${JSON.stringify(address.instanceKey)},`;
    return acquireLock({ fs: ports.fs, processes: ports.processes, holder: this.#holder, what }, paths.lock);
  }

  #loadWriter(lock: Lock): Promise<InstanceWriter> {
    const nextEpoch = () => lock.epoch * EPOCHS_PER_OWNER + ++this.#openings;
    return InstanceWriter.load({ ...this.#context, lock, nextEpoch });
  }

  /** Synced also when it was there: whoever made it may have died before it could. */
  async #makeFolder(): Promise<void> {
    const { ports, paths } = this.#context;
    await ports.fs.makeFolder(paths.folder);
    await ports.fs.syncFolder(dirname(paths.folder));
  }

  /** Nothing is lost by a file that does not close: what had to be durable is. */
  async #closeInbox(): Promise<void> {
    await this.#inbox?.close().catch(() => undefined);
    this.#inbox = undefined;
  }

  async #closeWriter(): Promise<void> {
    await this.#writer?.close().catch(() => undefined);
    this.#writer = undefined;
  }

  async #releaseUnused(): Promise<void> {
    if (!this.#writer) await this.#releaseLock();
  }

  /** When it rejects the lock is still ours. */
  async #giveBack(): Promise<void> {
    await this.#closeWriter();
    await this.#lock?.release();
    this.#lock = undefined;
  }

  /** A lock that cannot be given back stays ours until the next attempt, or until this process ends. */
  async #releaseLock(): Promise<void> {
    const isReleased = await this.#lock?.release().then(
      () => true,
      () => false,
    );
    if (isReleased) this.#lock = undefined;
  }
}
