/** Asks the side thread of a database for slow work, one after the other. */
import type { GoondanError } from '@goondan/types';
import type { SideAnswer, SideWork } from './side-thread.ts';
import { storeError } from './sqlite-error.ts';

export class SideThread {
  readonly #worker: Worker;
  #last: Promise<unknown> = Promise.resolve();
  #isClosed = false;
  /** Why the thread has ended by itself. */
  #ended: GoondanError | undefined;
  #answered: PromiseWithResolvers<SideAnswer> | undefined;

  constructor(private readonly path: string) {
    // Bun takes `workerData`, too, which its types do not know.
    this.#worker = new Worker(new URL('./side-thread.ts', import.meta.url).href, { workerData: path } as WorkerOptions);
    this.#worker.unref();
    this.#worker.onmessage = ({ data }: MessageEvent<SideAnswer>) => this.#answered?.resolve(data);
    this.#worker.addEventListener('error', ({ message }) => this.#end(message));
    this.#worker.addEventListener('close', () => this.#end('The thread has ended.'));
  }

  /** Returns the problems that were found. **Errors** — `E_STORE_WRITE`, `E_DISK_FULL`, `E_STORE_CORRUPT`. */
  ask(work: SideWork): Promise<readonly string[]> {
    if (this.#isClosed) return Promise.reject(this.#failure('The store is closed.'));
    const asked = this.#last.then(() => this.#perform(work));
    this.#last = asked.catch(() => undefined);
    return asked;
  }

  /** Ends the thread after its work. Its connection must be closed before that of the owner. Never rejects. */
  async close(): Promise<void> {
    const closed = this.ask({ kind: 'close' }).catch(() => undefined);
    this.#isClosed = true;
    await closed;
    this.#worker.terminate();
  }

  async #perform(work: SideWork): Promise<readonly string[]> {
    if (this.#ended) throw this.#ended;
    this.#answered = Promise.withResolvers<SideAnswer>();
    // While somebody waits for it, the thread keeps the process alive.
    this.#worker.ref();
    this.#worker.postMessage(work);
    try {
      const { problems, failed } = await this.#answered.promise;
      if (failed !== undefined) throw this.#failure(failed.message, failed.code);
      return problems;
    } finally {
      this.#worker.unref();
    }
  }

  #end(why: string): void {
    this.#ended ??= this.#failure(why);
    this.#answered?.reject(this.#ended);
  }

  #failure(why: string, code = 'unknown'): GoondanError {
    return storeError(Object.assign(new Error(why), { code }), this.path);
  }
}
