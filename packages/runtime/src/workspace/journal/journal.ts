/**
 * The durable `ConversationStore`, and the inbox, outbox and dead letters that belong to it: all instances of one
 * workspace, each in its own folder. `docs/storage.md` says what the files are and what is promised.
 *
 * Two processes share a workspace: the orchestrator accepts input, each agent process writes its own instance. Writing a
 * conversation takes the instance's lock at the first `open` and keeps it until `close`; accepting and reading take none.
 */
import { GoondanError, type AgentEvent, type JsonValue } from '@goondan/types';
import type { ConversationStore, InstanceAddress } from '../../agent/conversation/conversation-store.ts';
import { readArchive, type ArchivedTurn } from '../archive/read-archive.ts';
import { openRuntimeEvents, type RuntimeEventWriter } from '../archive/runtime-events.ts';
import { decodeLetter, retryOf, type DeadLetter } from '../dead-letters/dead-letter.ts';
import type { Accepted } from '../inbox/inbox.ts';
import { InboxReader } from '../inbox/inbox-reader.ts';
import { instancePaths, instancesFolder, workspaceFolder } from '../layout/instance-paths.ts';
import { makeFolders } from '../layout/make-folders.ts';
import { defaultLimits, type StoreLimits } from '../limits.ts';
import { codedFs } from '../lines/coded-fs.ts';
import { readQueue, type QueueEntry } from '../lines/durable-queue.ts';
import type { StorePorts } from '../store-ports.ts';
import { InstanceSlot } from './instance-slot.ts';
import type { InstanceWriter } from './instance-writer.ts';
import { listInstances } from './list-instances.ts';
import { readCommitted } from './read-committed.ts';
import { readMetadata } from './read-metadata.ts';

export interface JournalLocation {
  readonly stateRoot: string;
  readonly workspaceId: string;
}

export interface Journal extends ConversationStore {
  /** Durable when it resolves; idempotent on `event.id`. **Errors** — `E_INBOX_FULL`, `E_DISK_FULL`, `E_STORE_WRITE`. */
  accept(instance: InstanceAddress, event: AgentEvent): Promise<Accepted>;
  /** Accepted events whose turn is not committed, oldest first. The turn of an event has the id `turn-` + its id. */
  pending(instance: InstanceAddress): Promise<readonly AgentEvent[]>;
  /** The instances that have state or input, in no order. */
  instances(): Promise<readonly InstanceAddress[]>;
  readonly outbox: Outbox;
  readonly deadLetters: DeadLetters;
  /** Committed turns that are still kept, oldest first. */
  archive(instance: InstanceAddress): AsyncIterable<ArchivedTurn>;
  openRuntimeEvents(instance: InstanceAddress): Promise<RuntimeEventWriter>;
  /** A folder of the instance's own for its tools. */
  scratchFolder(instance: InstanceAddress): string;
  /** Closes the files and gives the lock back; of one instance, or of all. */
  close(instance?: InstanceAddress): Promise<void>;
}

/** Written by the owner of the instance, like the conversation. */
export interface Outbox {
  /** Durable when it resolves; idempotent on the key. **Errors** — `E_OUTBOX_FULL`. */
  add(instance: InstanceAddress, key: string, value: JsonValue): Promise<void>;
  /** Oldest first. The answer of a turn that somebody waits for is here under the turn's id (`decodeReply`). */
  pending(instance: InstanceAddress): Promise<readonly QueueEntry[]>;
  acknowledge(instance: InstanceAddress, key: string): Promise<void>;
}

/** An event is put here by the commit of its turn with an error of code `E_DEAD_LETTER`. */
export interface DeadLetters {
  list(instance: InstanceAddress): Promise<readonly DeadLetter[]>;
  /** Accepts it again, as the event `<id>~retry`, and takes it out. False when there is none of this id. */
  retry(instance: InstanceAddress, eventId: string): Promise<boolean>;
  drop(instance: InstanceAddress, eventId: string): Promise<void>;
}

/** How many instances this process keeps files open for that it only accepts for; more are closed and opened again. */
const OPEN_INBOXES = 256;

export async function openJournal(
  outside: StorePorts,
  { stateRoot, workspaceId }: JournalLocation,
  limits: StoreLimits = defaultLimits,
): Promise<Journal> {
  const ports: StorePorts = { ...outside, fs: codedFs(outside.fs), warn: (warning) => outside.warn(warning) };
  const workspace = workspaceFolder(stateRoot, workspaceId);
  await makeFolders(ports.fs, stateRoot, instancesFolder(workspace));
  const slots = new Map<string, InstanceSlot>();
  const pathsOf = (instance: InstanceAddress) => instancePaths(workspace, instance);

  function slotOf(instance: InstanceAddress): InstanceSlot {
    const key = pathsOf(instance).folder;
    const slot = slots.get(key) ?? new InstanceSlot({ ports, paths: pathsOf(instance), address: instance, limits, stateRoot });
    // Last used, last in the map.
    slots.delete(key);
    slots.set(key, slot);
    return slot;
  }

  async function closeIdle(): Promise<void> {
    if (slots.size <= OPEN_INBOXES) return;
    for (const [key, slot] of slots) {
      if (!slot.isIdle) continue;
      slots.delete(key);
      return slot.close();
    }
  }

  function ownedWriter(instance: InstanceAddress): InstanceWriter {
    const writer = slots.get(pathsOf(instance).folder)?.writer;
    if (writer) return writer;
    throw new GoondanError('E_STORE_ORDER', `Instance ${JSON.stringify(instance.instanceKey)} was not opened`);
  }

  async function accept(instance: InstanceAddress, event: AgentEvent): Promise<Accepted> {
    const accepted = await slotOf(instance).withInbox((inbox) => inbox.accept(event));
    await closeIdle();
    return accepted;
  }

  const outbox: Outbox = {
    async add(instance, key, value) {
      const writer = await slotOf(instance).openWriter();
      await writer.withQueues((queues) => queues.addToOutbox(key, value));
    },
    async pending(instance) {
      const writer = slots.get(pathsOf(instance).folder)?.writer;
      if (writer && !writer.failed) return writer.withQueues(async (queues) => queues.outbox);
      return readQueue(ports, pathsOf(instance).outbox);
    },
    async acknowledge(instance, key) {
      const writer = await slotOf(instance).openWriter();
      await writer.withQueues((queues) => queues.acknowledge(key));
    },
  };

  const deadLetters: DeadLetters = {
    list: async (instance) => (await readQueue(ports, pathsOf(instance).deadLetters)).map(decodeLetter),
    async retry(instance, eventId) {
      const letter = (await deadLetters.list(instance)).find(({ event }) => event.id === eventId);
      if (!letter) return false;
      // In this order: a crash in between leaves a letter whose retry is accepted, and retrying it again changes nothing.
      await accept(instance, retryOf(letter));
      await deadLetters.drop(instance, eventId);
      return true;
    },
    async drop(instance, eventId) {
      const writer = await slotOf(instance).openWriter();
      await writer.withQueues((queues) => queues.dropLetter(eventId));
    },
  };

  return {
    open: async (instance, turnId) => (await slotOf(instance).openWriter()).open(turnId),
    append: async (instance, epoch, at, records) => ownedWriter(instance).append(epoch, at, records),
    commit: async (instance, epoch, turnId, delta, extensionState, result) =>
      ownedWriter(instance).commit(epoch, turnId, delta, extensionState, result),
    async read(instance) {
      const writer = slots.get(pathsOf(instance).folder)?.writer;
      if (writer && !writer.failed) return writer.snapshot();
      return readCommitted(ports, pathsOf(instance), instance);
    },
    accept,
    async pending(instance) {
      const writer = slots.get(pathsOf(instance).folder)?.writer;
      if (writer && !writer.failed) return writer.pending();
      const handled = (await readMetadata(ports, pathsOf(instance).metadata))?.commit.inbox ?? 0;
      const reader = new InboxReader(ports, pathsOf(instance).inbox, instance);
      return (await reader.pending(handled)).map(({ event }) => event);
    },
    instances: () => listInstances(ports, instancesFolder(workspace)),
    outbox,
    deadLetters,
    archive: (instance) => readArchive(ports, pathsOf(instance).archive),
    openRuntimeEvents: (instance) => openRuntimeEvents(ports.fs, pathsOf(instance).runtimeEvents, limits.runtimeEvents),
    scratchFolder: (instance) => pathsOf(instance).scratch,
    async close(instance) {
      const closing = instance ? [slotOf(instance)] : [...slots.values()];
      for (const slot of closing) await slot.close();
      if (instance) slots.delete(pathsOf(instance).folder);
      else slots.clear();
    },
  };
}
