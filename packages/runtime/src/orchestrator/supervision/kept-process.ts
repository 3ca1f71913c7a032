/**
 * A supervised process that is kept running from `start` to `drain`: that of a connection, or a keeper. It waits for no
 * slot, and does not hibernate.
 */
import type { InstanceInput } from './instance-state.ts';
import { type OwnAction, SupervisedProcess } from './supervised-process.ts';

export abstract class KeptProcess<Down, Up> extends SupervisedProcess<Down, Up> {
  readonly #stopped = Promise.withResolvers<void>();
  readonly #inputs: InstanceInput[] = [];
  #isStepping = false;

  start(): void {
    this.post({ type: 'keep' });
  }

  /** Ends the process, and prevents further starts. Resolves when the process has exited. */
  drain(graceMs: number): Promise<void> {
    this.post({ type: 'drain', graceMs: Math.ceil(graceMs), afterwards: 'stop' });
    return this.#stopped.promise;
  }

  /** Inputs are queued and handled one after the other, because an action may cause the next input synchronously. */
  protected override post(input: InstanceInput): void {
    this.#inputs.push(input);
    if (this.#isStepping) return;
    this.#isStepping = true;
    try {
      for (let next = this.#inputs.shift(); next !== undefined; next = this.#inputs.shift()) this.step(next);
    } finally {
      this.#isStepping = false;
    }
    if (this.state.phase.name === 'stopped') this.#stopped.resolve();
  }

  protected override perform(action: OwnAction): void {
    // Kept processes have no limit of slots. The other actions of the machine apply only to agents.
    if (action.type === 'slot.ask') this.post({ type: 'slot.granted' });
  }

  protected override lost(): void {
    // There is nothing to do, because the next process has its own channel.
  }
}
