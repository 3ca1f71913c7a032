/**
 * The durable `ConversationStore`, with inbox, outbox and dead letters, for all instances of one workspace, each in its
 * own folder. `docs/storage.md` describes the files and the guarantees.
 *
 * Two kinds of processes share a workspace: the orchestrator accepts input and writes the inbox log, and each agent
 * process writes its own instance. The first `open` of a conversation takes the lock of the instance and keeps it until
 * `close`. Accepting and reading take no lock.
 */
import { type AgentAddress, type AgentEvent, GoondanError, type JsonObject } from '@goondan/types';
import type { ConversationStore } from '../../agent/conversation/conversation-store.ts';
import { type ArchivedTurn, openArchivedTurn, type OpenArchivedTurn } from '../archive/read-archive.ts';
import type { UncheckedListener } from '../archive/read-committed-turns.ts';
import { openDeadLetters } from './dead-letters.ts';
import { type KeptHistory, keptHistory, keptTurns } from '../history/kept-history.ts';
import type { InboxEntry } from '../inbox/inbox-line.ts';
import type { Accepted, OpenInbox } from '../inbox/open-inbox.ts';
import { keyOf } from '../inbox/read-inbox-log.ts';
import { WorkspaceInbox } from '../inbox/workspace-inbox.ts';
import {
  indexPath,
  instancesFolder,
  type JournalLocation,
  type StoredInstance,
  workspaceFolder,
} from '../layout/instance-paths.ts';
import { makeFolders, makeFoldersBelow } from '../layout/make-folders.ts';
import { defaultLimits, type StoreLimits } from '../limits.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { shareFolderSyncs } from '../../ports/share-folder-syncs.ts';
import { eventIdOf } from '../../ports/ids.ts';
import type { LineWriter } from '../lines/gathered-log.ts';
import { readSettled } from '../lines/read-settled.ts';
import { openOutbox } from './outbox.ts';
import type { StorePorts, StoreWarning } from '../store-ports.ts';
import type { TurnLine } from '../traces/trace-writer.ts';
import { keepDeletedSpending } from './deleted-spending.ts';
import { putAside, removeAside, sweepAside } from './delete-instance.ts';
import { addInputDamage, type ForkedInstance, type ForkOptions, readFork } from './fork-instance.ts';
import { hasUnfinished } from './has-work.ts';
import { pendingInputs, unknownInstance } from './instance-refusals.ts';
import { InstanceSlots } from './instance-slots.ts';
import { listInstances } from './list-instances.ts';
import { placeInstance } from './place-instance.ts';
import { type IntactConversation, readCommitted, readIntact } from './read-committed.ts';
import { type InstanceIndex, readIndex } from '../records/instance-index.ts';
import { readLog } from '../records/read-log.ts';
import { readSpending } from './read-spending.ts';
import { readSummary, type InstanceSummary } from './read-summary.ts';
import { RecordLogs } from './record-logs.ts';

export interface Journal extends ConversationStore {
  /**
   * Accepts an event. The event is durable when the promise resolves. An `event.id` is accepted only once: for a second
   * delivery, nothing is written, and the result says whether the event is still pending.
   *
   * **Errors** — `E_INBOX_FULL`, `E_DISK_FULL`, `E_STORE_WRITE`.
   */
  accept(instance: AgentAddress, event: AgentEvent): Promise<Accepted>;
  /** Refuses an event that `accept` would refuse for lack of room. **Errors** — those of `accept`. */
  checkRoom(instance: AgentAddress, event: AgentEvent): Promise<void>;
  /** Like `read`, but skips damaged files, lists them in `problems` and returns the rest. */
  readIntact(instance: AgentAddress): Promise<IntactConversation>;
  /**
   * Marks a pending event as cancelled, durably. `pendingEntries` and a second delivery of the event then show the
   * mark. Returns false when no pending event has this id.
   *
   * **Errors** — `E_DISK_FULL`, `E_STORE_WRITE`.
   */
  cancel(instance: AgentAddress, eventId: string, reason: string): Promise<boolean>;
  /**
   * Lists accepted events without a committed turn, oldest first. The turn of an event has the id `turn-<event id>`.
   */
  pending(instance: AgentAddress): Promise<readonly AgentEvent[]>;
  /** Lists pending events, each with its number. */
  pendingEntries(instance: AgentAddress): Promise<readonly InboxEntry[]>;
  /** Lists the instances that have state or input, in no particular order. */
  instances(): Promise<readonly AgentAddress[]>;
  /** Returns counts and dates to show in lists. It is cheap and takes no lock. */
  summary(instance: AgentAddress): Promise<InstanceSummary>;
  /**
   * Returns true if the instance must be woken, because it has input to handle, a turn or a commit to finish, or
   * answers to deliver.
   */
  hasWork(instance: AgentAddress): Promise<boolean>;
  /** Returns true if the instance has a turn to finish, or answers to deliver. Does not read the inbox. */
  hasUnfinished(instance: AgentAddress): Promise<boolean>;
  /**
   * Opens the inbox log, and repairs it after a crash. The first `accept` does the same. Only for the owner of the
   * workspace. **Errors** — those of the disk.
   */
  openInbox(): Promise<void>;
  /** Notes that the commit of an event's turn is durable, so that the event can be removed. */
  handled(instance: AgentAddress, eventId: string, isTaken?: boolean): void;
  /** Takes the lock and repairs the files after a crash. The first `open` does the same. */
  recover(instance: AgentAddress): Promise<void>;
  /**
   * Starts the conversation over, without messages and extension states. Pending events stay. An interrupted turn
   * starts again from its event, and the effects it had recorded are forgotten. The archive keeps all earlier turns and
   * records the reset. Only for the supervisor of the instance, while the instance has no process.
   *
   * **Errors** — `E_LOCKED` while a process owns the instance; those of recovery, and those of `ending`, which is called when
   * nothing refuses the reset any more, just before it, and must not use the instance: it would wait for itself. After a
   * disk error call it again, because the lock may not have been released.
   */
  reset(instance: AgentAddress, ending?: () => Promise<void>): Promise<void>;
  /** Returns true if any file of the instance exists, damaged or not. */
  has(instance: AgentAddress): Promise<boolean>;
  /**
   * Deletes everything of an instance: its conversation and archive, input, answers, dead letters, states and
   * `scratch/`. The ids of handled events are deleted too, so an old id is accepted as a new event. Only for the
   * supervisor of the instance, while the instance has no process. After a crash the instance exists completely or not
   * at all.
   *
   * **Errors** — `E_INSTANCE_UNKNOWN`; `E_INSTANCE_PENDING` when events are pending, unless `force`; `E_LOCKED` while
   * another process owns the instance, `E_STORE_ORDER` while a turn runs in this process; those of the disk, and
   * without `force` those of an unreadable inbox, and those of `ending`. It is called when nothing refuses the deletion any
   * more, just before it, and must not use the instance: it would wait for itself.
   */
  delete(instance: AgentAddress, options?: DeleteOptions, ending?: () => Promise<void>): Promise<DeletedInstance>;
  /**
   * Creates another instance of the same agent that continues from a moment of this conversation. The first commit of
   * the new instance has the messages with their authors, and the states of extensions. Pending input, answers, dead
   * letters, finished turns and `scratch/` are not copied. After a crash the new instance exists completely or not at
   * all. Only for the owner of the workspace, while the new instance has no process.
   *
   * **Errors** — `E_INSTANCE_UNKNOWN`, `E_INSTANCE_EXISTS`, `E_HISTORY_RANGE`; those of reading and of the disk.
   */
  fork(from: AgentAddress, options: ForkOptions): Promise<ForkedInstance>;
  /** Reads the model calls of all instances, and of deleted ones. It takes no lock. */
  usage(since?: string): Promise<Awaited<ReturnType<typeof readSpending>>>;
  /** Removes files that interrupted deletions and forks left. Only for the owner of the workspace. */
  sweep(): Promise<void>;
  readonly outbox: ReturnType<typeof openOutbox>;
  readonly deadLetters: ReturnType<typeof openDeadLetters>;
  /** Yields the kept committed turns, oldest first. **Errors** — `E_STORE_CORRUPT`, also when turns are missing. */
  archive(instance: AgentAddress): AsyncIterable<ArchivedTurn>;
  /**
   * Returns the kept committed turns, and the conversation before the first of them. `readHistory`,
   * `readConversationAt` and `blame` read from it.
   */
  history(instance: AgentAddress, onUnchecked?: UncheckedListener): Promise<KeptHistory>;
  /** Returns the turn that is not committed yet, with its events so far; `undefined` when there is none. */
  openTurn(instance: AgentAddress): Promise<OpenArchivedTurn | undefined>;
  openRuntimeEvents(instance: AgentAddress): Promise<LineWriter<JsonObject>>;
  /** Opens the writer of traces. Like the runtime events, traces are records for people. */
  openTraces(instance: AgentAddress): Promise<LineWriter<TurnLine>>;
  /** Returns the folder in which the tools of the instance may keep files. */
  scratchFolder(instance: AgentAddress): string;
  /** Closes the files and releases the lock of one instance, or of all when absent. */
  close(instance?: AgentAddress): Promise<void>;
}

export interface DeleteOptions {
  /** If true, deletes the instance even if it has damaged files, or pending events, which are then lost. */
  readonly force?: boolean;
}

export interface DeletedInstance {
  /** The number of pending events that were deleted; absent when the inbox is unreadable. */
  readonly inputs?: number;
}

/** Without `mayMakeWorkspace`, it fails with `E_STORE_WRITE` in a workspace that was taken away. */
export async function openJournal(
  outside: StorePorts,
  location: JournalLocation,
  limits: StoreLimits = defaultLimits,
  mayMakeWorkspace = true,
): Promise<Journal> {
  const { clock, processes, fence } = outside;
  const warn = (warning: StoreWarning) => outside.warn(warning);
  const ports: StorePorts = { fs: shareFolderSyncs(codedFs(outside.fs)), clock, processes, warn, fence };
  const { stateRoot, workspaceId } = location;
  const workspace = workspaceFolder(stateRoot, workspaceId);
  const folder = instancesFolder(workspace);
  await (mayMakeWorkspace ? makeFolders(ports.fs, stateRoot, folder) : makeFoldersBelow(ports.fs, workspace, folder));
  // The index of the last list. An entry counts only while its files are unchanged.
  let index: InstanceIndex = new Map();
  const slots = new InstanceSlots(ports, location, limits);
  const logs = new RecordLogs(ports, workspace, limits);
  const eraseNow = async (aside: string) => {
    await keepDeletedSpending(ports, workspace, aside);
    await logs.erase(aside);
  };
  let lastErasure: Promise<unknown> = Promise.resolve();
  /** Erases after all others: each of them reads and replaces the file with the usage of deleted instances. */
  const erase = (aside: string) => {
    const erasure = lastErasure.then(() => eraseNow(aside));
    lastErasure = erasure.catch(() => undefined);
    return erasure;
  };

  const storedAt = (instance: AgentAddress) => slots.storedAt(instance);
  const inbox = new WorkspaceInbox({ ...ports, workspace, limits, pace: slots.pace, storedAt });

  function accept(instance: AgentAddress, event: AgentEvent): Promise<Accepted> {
    const releasing = slots.known(instance)?.releaseUnused();
    return releasing ? releasing.then(() => inbox.accept(instance, event)) : inbox.accept(instance, event);
  }

  async function pendingEntries(instance: AgentAddress): Promise<readonly InboxEntry[]> {
    const writer = await slots.known(instance)?.ownedWriter();
    return inbox.pendingEntries(instance, writer?.handled);
  }

  /** Returns true if the instance has a folder or pending input. */
  async function exists(instance: AgentAddress): Promise<boolean> {
    if (await ports.fs.stat(slots.storedAt(instance).paths.folder)) return true;
    return inbox.has(instance);
  }

  /** Deletes the folder and the input of an instance, as one change. Resolves with the folder to remove. */
  async function remove(open: OpenInbox, stored: StoredInstance): Promise<string> {
    await open.beginDeletion(stored.address);
    try {
      const aside = await putAside(stored);
      await open.endDeletion(stored.address, true);
      await open.eraseDeleted();
      return aside;
    } catch (error) {
      // The folder may be renamed or not. Opening the inbox again finds out, as after a crash.
      await open.close();
      throw error;
    }
  }

  const journal: Journal = {
    open: async (instance, turnId, input) => (await slots.of(instance).openWriter()).open(turnId, input),
    append(instance, epoch, at, records) {
      const writer = slots.known(instance)?.writer;
      return writer ? writer.append(epoch, at, records) : Promise.reject(notOpened(instance));
    },
    async commit(instance, epoch, turnId, ...turn) {
      const writer = slots.known(instance)?.writer;
      if (!writer) throw notOpened(instance);
      await writer.commit(epoch, turnId, ...turn);
      inbox.handled(instance, eventIdOf(turnId));
    },
    commitStates: async (instance, stateVersion, extensionState) =>
      (await slots.of(instance).openWriter()).commitStates(stateVersion, extensionState),
    async read(instance) {
      const slot = slots.of(instance);
      const writer = await slot.ownedWriter();
      return writer ? writer.snapshot() : readCommitted(slot.stored);
    },
    async readIntact(instance) {
      const slot = slots.of(instance);
      const writer = await slot.ownedWriter();
      if (!writer) return readIntact(slot.stored);
      return { ...(await writer.snapshot()), lostStates: [], problems: [] };
    },
    accept,
    checkRoom: (instance, event) => inbox.checkRoom(instance, event),
    async cancel(instance, eventId, reason) {
      await slots.known(instance)?.releaseUnused();
      return inbox.cancel(instance, eventId, reason);
    },
    async openInbox() {
      await inbox.open();
    },
    handled: (instance, eventId, isTaken) => inbox.handled(instance, eventId, isTaken),
    pending: async (instance) => (await pendingEntries(instance)).map(({ event }) => event),
    pendingEntries,
    async hasWork(instance) {
      // The caller is about to start the agent process, which needs the lock.
      await slots.known(instance)?.releaseUnused();
      if (await hasUnfinished(slots.storedAt(instance))) return true;
      return (await inbox.pendingEntries(instance)).length > 0;
    },
    async hasUnfinished(instance) {
      await slots.known(instance)?.releaseUnused();
      return hasUnfinished(slots.storedAt(instance));
    },
    async recover(instance) {
      await slots.of(instance).openWriter();
    },
    async reset(instance, ending) {
      const slot = slots.of(instance);
      if (await ports.fs.stat(slot.stored.paths.folder)) {
        await inbox.keepLost(instance);
        await slot.withWriter((writer) => writer.reset(ending));
      } else await ending?.();
      await slots.closeUnused();
    },
    has: exists,
    async delete(instance, { force = false } = {}, ending = async () => undefined) {
      const slot = slots.of(instance);
      if (!(await exists(instance))) throw unknownInstance(instance);
      const count = () => countLost(instance, () => inbox.pendingEntries(instance), force);
      if (!(await ports.fs.stat(slot.stored.paths.folder))) {
        return inbox.alone(instance, async (open) => {
          const lost = await count();
          await ending();
          await open.endDeletion(instance, true);
          await open.eraseDeleted();
          return lost;
        });
      }
      const { aside, ...lost } = await slot.leave(() =>
        inbox.alone(instance, async (open) => {
          const counted = await count();
          await ending();
          return { ...counted, aside: await remove(open, slot.stored) };
        }),
      );
      await slots.closeUnused();
      await removeAside(ports, aside, erase);
      return lost;
    },
    async fork(from, { as: instanceKey, at }) {
      if (!(await ports.fs.stat(slots.storedAt(from).paths.folder))) throw unknownInstance(from);
      const { conversation, forked } = await readFork(journal, from, at);
      const reported = await addInputDamage(forked, () => pendingEntries(from));
      const to = { agentName: from.agentName, instanceKey };
      const slot = slots.of(to);
      await slot.arrive(
        () => exists(to),
        () => placeInstance(slot.stored, slots.pace, conversation),
      );
      await slots.closeUnused();
      return reported;
    },
    sweep: () => sweepAside(ports, folder, erase),
    async instances() {
      index = await readIndex(ports.fs, indexPath(workspace));
      return addWaiting(await listInstances(ports, folder, index), await inbox.addresses());
    },
    summary: (instance) =>
      readSummary(storedAt(instance), (...settled) => inbox.pendingEntries(instance, ...settled), index),
    async usage(since) {
      return readSpending({ ...ports, limits }, workspace, since);
    },
    outbox: openOutbox(slots),
    deadLetters: openDeadLetters(slots, accept),
    async *archive(instance) {
      await slots.known(instance)?.writer?.settle();
      yield* keptTurns(slots.storedAt(instance));
    },
    async history(instance, onUnchecked) {
      await slots.known(instance)?.writer?.settle();
      return keptHistory(slots.storedAt(instance), onUnchecked);
    },
    async openTurn(instance) {
      await slots.known(instance)?.writer?.settle();
      const log = await readSettled(storedAt(instance), readLog);
      return log && openArchivedTurn(log.state.open);
    },
    openRuntimeEvents: (instance) => logs.openRuntimeEvents(instance),
    openTraces: (instance) => logs.openTraces(instance),
    scratchFolder: (instance) => slots.of(instance).stored.paths.scratch,
    async close(instance) {
      if (instance) return slots.close(instance);
      await slots.closeAll();
      await inbox.close();
    },
  };
  return journal;
}

/**
 * Counts the pending events that a deletion would lose. **Errors** — unless `force`: `E_INSTANCE_PENDING`, those of
 * reading.
 */
async function countLost(
  instance: AgentAddress,
  pending: () => Promise<readonly InboxEntry[]>,
  force: boolean,
): Promise<DeletedInstance> {
  try {
    const { length: inputs } = await pending();
    if (inputs > 0 && !force) throw pendingInputs(instance, inputs);
    return { inputs };
  } catch (error) {
    if (!force) throw error;
    return {};
  }
}

/** Adds the instances that have only input, and no folder yet. */
function addWaiting(found: readonly AgentAddress[], waiting: readonly AgentAddress[]): AgentAddress[] {
  const keys = new Set(found.map(keyOf));
  return [...found, ...waiting.filter((address) => !keys.has(keyOf(address)))];
}

function notOpened({ agentName, instanceKey }: AgentAddress): GoondanError {
  return new GoondanError(
    'E_STORE_ORDER',
    `Agent ${agentName}, instance ${JSON.stringify(instanceKey)} was not opened`,
  );
}
