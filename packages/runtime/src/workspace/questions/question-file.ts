/**
 * Stores the questions of one workspace, and their answers, in `<workspace>/approvals.jsonl`. Only the
 * orchestrator writes the file. An agent process receives an answer only over its channel.
 *
 * Invariants: 1. When a write resolves, it is durable. 2. Writes run one at a time, in the order of the calls. 3. After
 * a disk error, the next write opens the file again, which repairs it. 4. A damaged file is copied aside, and a new
 * file is started. Waiting turns then make their requests again, so a lost answer never counts as an approval.
 */
import { GoondanError, type JsonValue } from '@goondan/types';
import { questionsPath, workspaceFolder, type JournalLocation } from '../layout/instance-paths.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import { DurableQueue } from '../lines/durable-queue.ts';
import { replaceFile } from '../lines/replace-file.ts';
import type { StorePorts } from '../store-ports.ts';
import { type AnsweredQuestion, type QuestionRecord, readRecord } from '../../questions/question-record.ts';

const COMPACT_AFTER_LINES = 512;

/** Gets the id of a changed request and its new record; without a record, the request was removed. */
type QuestionListener = (id: string, record?: QuestionRecord) => void;

export class QuestionFile {
  readonly #listeners = new Set<QuestionListener>();
  #queue: DurableQueue | undefined;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;

  private constructor(
    private readonly ports: StorePorts,
    private readonly path: string,
  ) {}

  /**
   * Opens the file; the folder of the workspace must exist. **Errors** — `E_STORE_READ`, `E_STORE_WRITE`,
   * `E_DISK_FULL`.
   */
  static async open(ports: StorePorts, { stateRoot, workspaceId }: JournalLocation): Promise<QuestionFile> {
    const path = questionsPath(workspaceFolder(stateRoot, workspaceId));
    const file = new QuestionFile({ ...ports, fs: codedFs(ports.fs) }, path);
    // Opened only if it exists: most swarms never ask a person.
    if ((await file.ports.fs.stat(path)) !== undefined) await file.#opened();
    return file;
  }

  /** Lists the stored requests, oldest first. */
  async list(): Promise<readonly QuestionRecord[]> {
    await this.#last;
    const isStored = !this.#isClosed && (await this.ports.fs.stat(this.path)) !== undefined;
    return recordsOf(isStored ? await this.#opened() : undefined);
  }

  /** Adds a record, or replaces the record with the same id. */
  async put(record: QuestionRecord): Promise<void> {
    await this.#run((queue) => write(queue, record));
    this.#tell(record.id, record);
  }

  /** Stores the answer of a request. Returns false, and writes nothing, unless the request is stored without an answer. */
  async answer(record: AnsweredQuestion): Promise<boolean> {
    const isFirst = await this.#run(async (queue) => {
      if (!recordsOf(queue).some(({ id, answer }) => id === record.id && answer === undefined)) return false;
      await write(queue, record);
      return true;
    });
    if (isFirst) this.#tell(record.id, record);
    return isFirst;
  }

  async remove(id: string): Promise<void> {
    await this.#run((queue) => queue.remove(id));
    this.#tell(id);
  }

  /** Calls the listener after each durable change. Returns a function that ends the calls. */
  onChange(listener: QuestionListener): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  /** Rejects every later write, because another orchestrator may own the workspace after this one closes. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#last;
    await this.#queue?.close();
    this.#queue = undefined;
  }

  #tell(...change: Parameters<QuestionListener>): void {
    for (const listener of this.#listeners) listener(...change);
  }

  async #run<Value>(action: (queue: DurableQueue) => Promise<Value>): Promise<Value> {
    if (this.#isClosed) throw new GoondanError('E_SWARM_STOPPED', 'The swarm is stopped: nothing can be answered.');
    const done = this.#last.then(() => this.#attempt(action));
    this.#last = done.catch(() => undefined);
    return done;
  }

  async #attempt<Value>(action: (queue: DurableQueue) => Promise<Value>): Promise<Value> {
    const queue = await this.#opened();
    try {
      return await action(queue);
    } catch (error) {
      this.#queue = undefined;
      await queue.close().catch(() => undefined);
      throw error;
    }
  }

  async #opened(): Promise<DurableQueue> {
    this.#queue ??= await openOrBegin(this.ports, this.path);
    return this.#queue;
  }
}

function recordsOf(queue: DurableQueue | undefined): readonly QuestionRecord[] {
  // Safe: the checksum of each line was verified, and only `write` writes lines.
  return (queue?.entries ?? []).map(({ value }) => readRecord(value as unknown as QuestionRecord));
}

function write(queue: DurableQueue, record: QuestionRecord): Promise<void> {
  // Safe: a record has only JSON values.
  return queue.put(record.id, record as unknown as JsonValue);
}

async function openOrBegin(ports: StorePorts, path: string): Promise<DurableQueue> {
  const begin = () => replaceFile(ports.fs, path, new Uint8Array());
  const open = () => DurableQueue.open(ports, path, COMPACT_AFTER_LINES);
  if ((await ports.fs.stat(path)) === undefined) await begin();
  try {
    return await open();
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    ports.warn({ path, message: `${error.message}; what waits is asked again` });
    await begin();
    return open();
  }
}
