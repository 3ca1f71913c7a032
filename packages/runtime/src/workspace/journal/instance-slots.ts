/**
 * The instances that this process has open. The number of instances that are open only to accept input is bounded:
 * above the limit, the least recently used instance is closed.
 */
import type { AgentAddress } from '@goondan/types';
import {
  indexPath,
  instancePaths,
  instancesFolder,
  type JournalLocation,
  type StoredInstance,
  workspaceFolder,
} from '../layout/instance-paths.ts';
import { keyOf } from '../inbox/read-inbox-log.ts';
import { DiskPace } from '../log-file/disk-pace.ts';
import type { StoreLimits } from '../limits.ts';
import type { StorePorts } from '../store-ports.ts';
import { IndexNotes } from './index-notes.ts';
import { InstanceSlot } from './instance-slot.ts';

const OPEN_SLOTS = 256;

export class InstanceSlots {
  /** The most recently used slot is last. */
  readonly #slots = new Map<string, InstanceSlot>();

  /** All logs of this process are on one disk. */
  readonly pace: DiskPace;

  readonly #notes: IndexNotes;

  constructor(
    private readonly ports: StorePorts,
    private readonly location: JournalLocation,
    private readonly limits: StoreLimits,
  ) {
    this.pace = new DiskPace(ports.clock);
    const workspace = workspaceFolder(location.stateRoot, location.workspaceId);
    const { fs, clock } = ports;
    const index = { fs, clock, path: indexPath(workspace), instances: instancesFolder(workspace), limits };
    this.#notes = new IndexNotes(index);
  }

  of(address: AgentAddress): InstanceSlot {
    const key = keyOf(address);
    const slot = this.#slots.get(key) ?? new InstanceSlot(this.storedAt(address), this.pace, this.#notes);
    this.#slots.delete(key);
    this.#slots.set(key, slot);
    return slot;
  }

  /**
   * Returns the slot of an instance if it is open. Never opens a slot, because a caller may ask about every existing
   * instance.
   */
  known(address: AgentAddress): InstanceSlot | undefined {
    return this.#slots.get(keyOf(address));
  }

  storedAt(address: AgentAddress): StoredInstance {
    const { stateRoot, workspaceId } = this.location;
    const paths = instancePaths(workspaceFolder(stateRoot, workspaceId), address);
    return { ...this.ports, paths, address, limits: this.limits };
  }

  async closeUnused(): Promise<void> {
    if (this.#slots.size <= OPEN_SLOTS) return;
    const unused = [...this.#slots.values()].find(({ isIdle }) => isIdle);
    if (unused) await this.close(unused.stored.address);
  }

  async close(address: AgentAddress): Promise<void> {
    const slot = this.#slots.get(keyOf(address));
    await slot?.close();
    // Keeps a slot that is in use again, or whose lock could not be released.
    if (slot?.isClosed) this.#slots.delete(keyOf(address));
  }

  async closeAll(): Promise<void> {
    for (const { stored } of this.#slots.values()) await this.close(stored.address);
    await this.#notes.close();
  }
}
