/**
 * Carries out the orchestrator's changes of one instance: prepares them one after the other, and swaps or drops each as
 * the orchestrator decides.
 */
import { GoondanError } from '@goondan/types';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import type { PreparedChange } from '../change/agent-changes.ts';
import type { RunningAgent } from '../start/start-agent.ts';
import type { ProcessLog } from './process-log.ts';

export interface InstanceChangesDeps {
  readonly agent: Pick<RunningAgent, 'prepare' | 'parts'>;
  readonly log: ProcessLog;
  /** Never throws. */
  readonly send: (message: FromAgent) => void;
  /** Called with each wanted agent, before its code is loaded. */
  readonly onWanted: (wanted: DeclaredAgent) => void;
  /** Called when a change is prepared, before it is reported. */
  readonly onReady: (prepared: PreparedChange, wanted: DeclaredAgent) => void;
  /** Called when a change is in place, after it was reported. */
  readonly onSwapped: () => void;
}

export class InstanceChanges {
  readonly #open = new Map<number, { readonly dropped: AbortController; prepared?: PreparedChange }>();
  #last: Promise<void> = Promise.resolve();

  constructor(private readonly deps: InstanceChangesDeps) {}

  hear(message: Extract<ToAgent, { readonly change: number }>): void {
    const { change } = message;
    switch (message.type) {
      case 'change.prepare': {
        this.#open.set(change, { dropped: new AbortController() });
        // Safe: the plan comes from our own orchestrator, which made it from checked data.
        const wanted = message.plan as unknown as DeclaredAgent;
        this.#last = this.#last.then(() => this.#prepare(change, wanted));
        return;
      }
      case 'change.swap':
        return void this.#swap(change);
      case 'change.drop':
        return void this.#drop(change);
    }
  }

  /** Never rejects. */
  async #prepare(change: number, wanted: DeclaredAgent): Promise<void> {
    const open = this.#open.get(change);
    if (open === undefined) return;
    const { agent, log, send, onWanted, onReady } = this.deps;
    try {
      onWanted(wanted);
      const prepared = await agent.prepare({ ...wanted, ...agent.parts.address }, open.dropped.signal, String(change));
      // Not awaited: the next change must not wait for cleanups, which may hang.
      if (open.dropped.signal.aborted) return void prepared.drop();
      open.prepared = prepared;
      onReady(prepared, wanted);
      send({ type: 'change.ready', change });
    } catch (error) {
      this.#open.delete(change);
      const isGivenUp = open.dropped.signal.aborted || (GoondanError.is(error) && error.code === 'E_AGENT_CLOSED');
      if (isGivenUp) return;
      log.writeThrown('error', 'change.failed', 'The change cannot be made', error);
      send({ type: 'change.failed', change, error: log.frameError(error, 'E_RELOAD_FAILED') });
    }
  }

  async #swap(change: number): Promise<void> {
    const { log, send, onSwapped } = this.deps;
    const prepared = this.#open.get(change)?.prepared;
    this.#open.delete(change);
    if (prepared === undefined) {
      return log.write('warn', 'message.ignored', `Change ${change} was not swapped: it is not prepared.`);
    }
    await prepared.swap();
    send({ type: 'change.swapped', change });
    onSwapped();
  }

  async #drop(change: number): Promise<void> {
    const open = this.#open.get(change);
    this.#open.delete(change);
    open?.dropped.abort(new GoondanError('E_RELOAD_FAILED', 'The change was dropped.'));
    await open?.prepared?.drop();
  }
}
