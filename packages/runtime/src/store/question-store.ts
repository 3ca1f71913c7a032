/** Questions to people, and the answers. */
import type { AgentAddress } from '@goondan/types';
import type { AnsweredQuestion, QuestionRecord } from '../questions/question-record.ts';

/**
 * Invariants that every question store guarantees:
 * 1. A record is durable when `put` or `answer` resolves. After an error nothing has changed.
 * 2. A request is answered once. An answer never changes.
 * 3. Every change is told after it is durable, to all listeners of all nodes.
 */
export interface QuestionStore {
  /**
   * Lists the stored requests, oldest first. With `at`, the requests of other instances may be left out; a node passes it
   * often, and a swarm may have many answers for always.
   */
  list(at?: AgentAddress): Promise<readonly QuestionRecord[]>;
  /** Adds a request without an answer. **Errors** — `E_DISK_FULL`, `E_STORE_WRITE`; `E_SWARM_STOPPED` once closed. */
  put(record: QuestionRecord): Promise<void>;
  /**
   * Stores the answer of a request. Returns false, and changes nothing, when the stored request has an answer, or when the
   * store does not have the request any more: its turn has ended.
   */
  answer(record: AnsweredQuestion): Promise<boolean>;
  /**
   * Returns the last record of a request that was removed lately; `undefined` if the store has forgotten it. Absent if the
   * store forgets requests at once.
   */
  findRemoved?(id: string): Promise<QuestionRecord | undefined>;
  /** Removes a request. An unknown request is ignored. */
  remove(id: string): Promise<void>;
  /**
   * Calls the listener after each change with the id and the new record; without a record, the request was removed.
   * Returns a function that ends the calls.
   */
  onChange(listener: (id: string, record?: QuestionRecord) => void): () => void;
}
