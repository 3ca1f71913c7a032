/**
 * The questions to people of one workspace, and their answers, in `<workspace>/approvals.jsonl`. The orchestrator is its
 * only writer: an agent's process learns an answer over its channel and from nowhere else.
 *
 * Invariants: 1. What resolved is durable. 2. One write at a time, in the order asked. 3. When the disk failed, the file is
 * opened anew before the next write, which repairs it. 4. A damaged file is kept aside and a new one begun: what it held
 * is asked again by the turns that wait, and an answer that is lost was not taken.
 */
import { GoondanError, type JsonValue } from '@goondan/types';
import { approvalsPath, workspaceFolder, type JournalLocation } from '../layout/instance-paths.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { DurableQueue } from '../lines/durable-queue.ts';
import { replaceFile } from '../lines/replace-file.ts';
import type { StorePorts } from '../store-ports.ts';
import type { ApprovalRecord } from './approval-record.ts';

const COMPACT_AFTER_LINES = 512;

export class ApprovalFile {
  readonly #ports: StorePorts;
  readonly #path: string;
  #queue: DurableQueue | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  private constructor(ports: StorePorts, path: string) {
    this.#ports = ports;
    this.#path = path;
  }

  /** The folder of the workspace is there. **Errors** — `E_STORE_READ`, `E_STORE_WRITE`, `E_DISK_FULL`. */
  static async open(ports: StorePorts, { stateRoot, workspaceId }: JournalLocation): Promise<ApprovalFile> {
    const path = approvalsPath(workspaceFolder(stateRoot, workspaceId));
    const file = new ApprovalFile({ ...ports, fs: codedFs(ports.fs) }, path);
    // Most swarms ask nobody, and have no such file.
    if ((await file.#ports.fs.stat(path)) !== undefined) await file.#opened();
    return file;
  }

  /** Oldest first. */
  get records(): readonly ApprovalRecord[] {
    // Sealed, and written by `put`.
    return (this.#queue?.entries ?? []).map(({ value }) => value as unknown as ApprovalRecord);
  }

  /** Adds it, or takes the place of the one with its id. */
  put(record: ApprovalRecord): Promise<void> {
    return this.#run((queue) => queue.put(record.id, record as unknown as JsonValue));
  }

  remove(id: string): Promise<void> {
    return this.#run((queue) => queue.remove(id));
  }

  /** From now on every write is refused: the workspace may be somebody else's. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    await this.#queue?.close();
    this.#queue = undefined;
  }

  async #run(action: (queue: DurableQueue) => Promise<void>): Promise<void> {
    if (this.#isClosed) throw new GoondanError('E_SWARM_STOPPED', 'The swarm is stopped: nothing can be answered.');
    const done = this.#last.then(() => this.#attempt(action));
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #attempt(action: (queue: DurableQueue) => Promise<void>): Promise<void> {
    const queue = await this.#opened();
    try {
      await action(queue);
    } catch (error) {
      this.#queue = undefined;
      await queue.close().catch(() => undefined);
      throw error;
    }
  }

  async #opened(): Promise<DurableQueue> {
    this.#queue ??= await this.#openOrBegin();
    return this.#queue;
  }

  async #openOrBegin(): Promise<DurableQueue> {
    const { fs } = this.#ports;
    if ((await fs.stat(this.#path)) === undefined) await this.#begin();
    try {
      return await this.#openQueue();
    } catch (error) {
      if (!(error instanceof GoondanError) || error.code !== 'E_STORE_CORRUPT') throw error;
      this.#ports.warn({ path: this.#path, message: `${error.message}; what waits is asked again` });
      await this.#begin();
      return this.#openQueue();
    }
  }

  #begin(): Promise<void> {
    return replaceFile(this.#ports.fs, this.#path, new Uint8Array());
  }

  #openQueue(): Promise<DurableQueue> {
    return DurableQueue.open(this.#ports, this.#path, COMPACT_AFTER_LINES);
  }
}
