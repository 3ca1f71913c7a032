/**
 * The instances that this process has open. The number of instances open only to accept input is bounded: the least
 * recently used is closed.
 */
import type { AgentAddress } from '@goondan/types';
import { instancePaths, workspaceFolder, type InstancePaths, type JournalLocation } from '../layout/instance-paths.ts';
import type { StoreLimits } from '../limits.ts';
import type { StorePorts } from '../store-ports.ts';
import { InstanceSlot } from './instance-slot.ts';

const OPEN_SLOTS = 256;

export class InstanceSlots {
  readonly #ports: StorePorts;
  readonly #location: JournalLocation;
  readonly #limits: StoreLimits;
  /** The most recently used slot is last. */
  readonly #slots = new Map<string, InstanceSlot>();

  constructor(ports: StorePorts, location: JournalLocation, limits: StoreLimits) {
    this.#ports = ports;
    this.#location = location;
    this.#limits = limits;
  }

  of(address: AgentAddress): InstanceSlot {
    const key = keyOf(address);
    const slot = this.#slots.get(key) ?? this.#make(address);
    this.#slots.delete(key);
    this.#slots.set(key, slot);
    return slot;
  }

  /** Returns the slot if it is open, and never opens one, because a caller may ask about every existing instance. */
  known(address: AgentAddress): InstanceSlot | undefined {
    return this.#slots.get(keyOf(address));
  }

  pathsOf(address: AgentAddress): InstancePaths {
    const { stateRoot, workspaceId } = this.#location;
    return instancePaths(workspaceFolder(stateRoot, workspaceId), address);
  }

  async closeUnused(): Promise<void> {
    if (this.#slots.size <= OPEN_SLOTS) return;
    const unused = [...this.#slots.values()].find(({ isIdle }) => isIdle);
    if (unused) await this.close(unused.address);
  }

  async close(address: AgentAddress): Promise<void> {
    const slot = this.#slots.get(keyOf(address));
    await slot?.close();
    // Keeps a slot that is in use again, or whose lock could not be released.
    if (slot?.isClosed) this.#slots.delete(keyOf(address));
  }

  async closeAll(): Promise<void> {
    for (const { address } of this.#slots.values()) await this.close(address);
  }

  #make(address: AgentAddress): InstanceSlot {
    return new InstanceSlot({ ports: this.#ports, paths: this.pathsOf(address), address, limits: this.#limits });
  }
}

function keyOf({ agentName, instanceKey }: AgentAddress): string {
  return JSON.stringify([agentName, instanceKey]);
}
