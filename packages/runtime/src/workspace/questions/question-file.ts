/**
 * Stores the questions of one workspace, and their answers, in `<workspace>/approvals.jsonl`. Only the
 * orchestrator writes the file. An agent process receives an answer only over its channel.
 *
 * Invariants: 1. When a write resolves, it is durable. 2. Writes run one at a time, in the order of the calls. 3. After
 * a disk error, the next write opens the file again, which repairs it. 4. A damaged file is copied aside, and a new
 * file is started. Waiting turns then make their requests again, so a lost answer never counts as an approval. 5. An intact
 * line that is not a question stays in the file and is not used.
 */
import { GoondanError, type JsonValue } from '@goondan/types';
import { questionsPath, workspaceFolder, type JournalLocation } from '../layout/instance-paths.ts';
import { readQuestions } from '../../ipc/check/stored-question.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { isCorrupt } from '../lines/corrupt-store.ts';
import { DurableQueue } from '../lines/durable-queue.ts';
import { replaceFile } from '../lines/replace-file.ts';
import type { StorePorts } from '../store-ports.ts';
import type { AnsweredQuestion, QuestionRecord } from '../../questions/question-record.ts';

const COMPACT_AFTER_LINES = 512;

/** Gets the id of a changed request and its new record; without a record, the request was removed. */
type QuestionListener = (id: string, record?: QuestionRecord) => void;

export class QuestionFile {
  readonly #listeners = new Set<QuestionListener>();
  /** The reports about records that are not questions. */
  readonly #foreign = new Set<string>();
  #queue: DurableQueue | undefined;
  #last: Promise<unknown> = Promise.resolve();
  /** The removal that has not begun yet. `done`: its place in the line of writes. */
  #removal: { readonly ids: string[]; readonly removed: Promise<void>; readonly done: Promise<unknown> } | undefined;
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
    return isStored ? this.#recordsOf(await this.#opened()) : [];
  }

  /** Adds a record, or replaces the record with the same id. */
  async put(record: QuestionRecord): Promise<void> {
    await this.#run((queue) => write(queue, record));
    this.#tell(record.id, record);
  }

  /** Stores the answer of a request. Returns false, and writes nothing, unless the request is stored without an answer. */
  async answer(record: AnsweredQuestion): Promise<boolean> {
    const isFirst = await this.#run(async (queue) => {
      const [stored] = this.#recordsOf(queue, record.id);
      if (stored === undefined || stored.answer !== undefined) return false;
      await write(queue, record);
      return true;
    });
    if (isFirst) this.#tell(record.id, record);
    return isFirst;
  }

  /** Removes a record. Removals that wait next to each other are one write. */
  async remove(id: string): Promise<void> {
    // Only the last one in line: a record that is put after an earlier removal must not be removed before it is there.
    let removal = this.#removal?.done === this.#last ? this.#removal : undefined;
    if (removal === undefined) {
      const ids: string[] = [];
      const begun = () => void (this.#removal = undefined);
      const removed = this.#run((queue) => {
        begun();
        return queue.remove(...ids);
      });
      removed.catch(begun);
      removal = { ids, removed, done: this.#last };
      this.#removal = removal;
    }
    removal.ids.push(id);
    await removal.removed;
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

  /** Returns the stored questions, or only the one with this id. Each other record is reported once. */
  #recordsOf(queue: DurableQueue, only?: string): readonly QuestionRecord[] {
    const entries = only === undefined ? queue.entries : queue.find(only);
    const stored = entries.map(({ key, value }) => ({ id: key, value }));
    return readQuestions(stored, 'the file of questions', ({ code, message }) => {
      if (this.#foreign.has(message)) return;
      this.#foreign.add(message);
      this.ports.warn({ path: this.path, message: `${code}: ${message}` });
    });
  }

  async #opened(): Promise<DurableQueue> {
    this.#queue ??= await openOrBegin(this.ports, this.path);
    return this.#queue;
  }
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
