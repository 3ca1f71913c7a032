/** Tells of nodes whose lease has ended, and of turns that this node takes over from them. */
import type { FailoverListener } from '@goondan/runtime/history';
import type { AgentAddress } from '@goondan/types';
import type { LivingNode } from './node-rows.ts';

export class Failover {
  readonly #listeners: FailoverListener[] = [];

  listen(listener: FailoverListener): void {
    this.#listeners.push(listener);
  }

  /** Compares two lists of living nodes. A node that joined again under its name is not gone. */
  compare(before: readonly LivingNode[], now: readonly LivingNode[]): void {
    const names = new Set(now.map(({ name }) => name));
    for (const { name } of before) if (!names.has(name)) for (const each of this.#listeners) each.gone(name);
  }

  /** `from`: the name of the node that ran a turn of the instance; absent when there is no such turn. */
  claimed(instance: AgentAddress, from: string | undefined): void {
    if (from !== undefined) for (const each of this.#listeners) each.takenOver(instance, from);
  }
}
