/** Work on whole instances. It runs at the node that owns the instance, while the instance has no process. */
import type { AgentAddress } from '@goondan/types';
import type { ForkedInstance, ForkOptions } from '../workspace/journal/fork-instance.ts';
import type { DeletedInstance, DeleteOptions } from '../workspace/journal/journal.ts';
import type { DeadLetter } from '../workspace/records/dead-letter.ts';

export interface InstanceAdmin {
  /**
   * Starts the conversation over, without messages and extension states. Pending events stay. An interrupted turn
   * starts again from its event. The history keeps all earlier turns and records the reset. `ending`: called when nothing refuses
   * the reset any more, just before it.
   *
   * **Errors** — `E_LOCKED` while a process owns the instance; those of recovery, and of `ending`. After a disk error call it
   * again.
   */
  reset(instance: AgentAddress, ending?: () => Promise<void>): Promise<void>;
  /** Returns true if anything of the instance exists, damaged or not. */
  has(instance: AgentAddress): Promise<boolean>;
  /**
   * Deletes everything of an instance, also its questions and answers for always. The ids of handled events are deleted too, so
   * an old id is accepted as a new event. After a crash the instance exists completely or not at all; if it exists, its questions
   * may be gone, and its turn asks again. A refused deletion changes nothing.
   *
   * **Errors** — `E_INSTANCE_UNKNOWN`; `E_INSTANCE_PENDING` when events are pending, unless `force`; `E_LOCKED` while
   * another process owns the instance, `E_STORE_ORDER` while a turn runs in this process; those of the disk, and
   * without `force` those of an unreadable inbox.
   */
  delete(instance: AgentAddress, options?: DeleteOptions): Promise<DeletedInstance>;
  /**
   * Creates another instance of the same agent that continues from a moment of this conversation. After a crash the new
   * instance exists completely or not at all.
   *
   * **Errors** — `E_INSTANCE_UNKNOWN`, `E_INSTANCE_EXISTS`, `E_HISTORY_RANGE`; those of reading and of the disk.
   */
  fork(from: AgentAddress, options: ForkOptions): Promise<ForkedInstance>;
  /** Removes remains of interrupted deletions and forks. Called once, when the swarm starts. */
  sweep(): Promise<void>;
}

/** Events that were given up. When a turn is committed with the error code `E_DEAD_LETTER`, its event is added. */
export interface DeadLetters {
  list(instance: AgentAddress): Promise<readonly DeadLetter[]>;
  /** Removes a dead letter. An unknown one is ignored. */
  drop(instance: AgentAddress, eventId: string): Promise<void>;
}
