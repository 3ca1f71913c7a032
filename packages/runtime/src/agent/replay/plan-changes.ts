/**
 * Changes the plan of a replayed agent before the steps at which the recorded turn changed it. A change is prepared
 * early, because it takes its place between two steps, where nothing can be awaited.
 */
import type { AgentPlan } from '../start/agent-plan.ts';
import type { RunningAgent } from '../start/start-agent.ts';

export interface RecordedChange {
  /** The index of the first step with the other plan. */
  readonly fromStep: number;
  readonly plan: AgentPlan;
}

export class PlanChanges {
  readonly #failure = Promise.withResolvers<never>();
  /** Rejects when a change cannot be prepared. Never resolves. */
  readonly failed = this.#failure.promise;
  readonly #waiting: RecordedChange[];
  #prepared: { readonly fromStep: number; readonly swap: () => Promise<void> } | undefined;
  #preparing: Promise<void> = Promise.resolve();

  constructor(
    private readonly agent: Pick<RunningAgent, 'prepare'>,
    changes: readonly RecordedChange[],
  ) {
    this.#waiting = [...changes];
    this.failed.catch(() => undefined);
  }

  /** Resolves when the next change is prepared. The outcomes of effects wait for it. Never rejects. */
  get ready(): Promise<void> {
    return this.#preparing;
  }

  /** Starts to prepare the next change, if there is one. */
  prepareNext(): void {
    const next = this.#waiting.shift();
    if (next === undefined) return;
    const { fromStep, plan } = next;
    this.#preparing = this.agent.prepare(plan).then(
      (change) => void (this.#prepared = { fromStep, swap: () => change.swap() }),
      (error: unknown) => this.#failure.reject(error),
    );
  }

  /** Called inside the turn, before the step with this index. The change takes its place when that step begins. */
  beforeStep(stepIndex: number): void {
    if (this.#prepared?.fromStep !== stepIndex) return;
    void this.#prepared.swap();
    this.#prepared = undefined;
    this.prepareNext();
  }
}
