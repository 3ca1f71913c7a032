/**
 * The parts of an agent in this process, and their changes while the agent runs.
 *
 * 1. A change is prepared: its new and changed parts are loaded and held. Everything that can fail fails here, and then
 *    nothing has changed.
 * 2. It is swapped between two steps, or at once when no turn runs, in one synchronous move that cannot fail.
 * 3. The parts that it replaced are cleaned up after that, once, last one first. A part whose turn layer still runs is
 *    cleaned up when the turn has ended.
 *
 * The parts in place are always those of one plan, in the order of that plan.
 */
import { GoondanError } from '@goondan/types';
import { type Clock, waitAtMost } from '../../ports/clock.ts';
import type { ExtensionDeps, ExtensionPart } from '../extension/extension-part.ts';
import { type ReportCleanup, runCleanups } from '../extension/run-cleanups.ts';
import type { Layer } from '../pipeline/layer.ts';
import type { LayerRegistry } from '../pipeline/layer-registry.ts';
import type { ToolRegistry } from '../tool/tool-registry.ts';
import type { PlanInForce } from '../turn-state/agent-parts.ts';
import type { AgentPart, WantedParts } from './agent-part.ts';

/** The time that the parts of one change get to clean up. */
const CLEAN_UP_MS = 5_000;

export interface AgentChangesDeps extends Omit<ExtensionDeps, 'onLate'> {
  readonly layers: LayerRegistry;
  readonly tools: ToolRegistry;
  readonly clock: Clock;
  readonly report: ReportCleanup;
  /** Exchanges the fields of the agent. Called in the middle of the move, so it must not throw. */
  readonly exchange: (plan: PlanInForce) => void;
  readonly planNow: () => PlanInForce;
  /** Throws if these model layers cannot run with this plan. */
  readonly check: (layers: readonly Layer[], plan: PlanInForce) => void;
  /** Makes the next import load these files again; `forgetModules` when absent. */
  readonly forget?: ForgetFiles | undefined;
}

/**
 * Makes the next import load these files again. `renewal` names the step of the change: several conversations of one
 * process that take the same change forget each file once, so that they share the new module.
 */
export type ForgetFiles = (files: readonly string[], renewal: string) => void;

/** A change whose parts are loaded and held. */
export interface PreparedChange {
  readonly plan: PlanInForce;
  /** Puts the change in place between two steps, or at once when no turn runs. Resolves when it is in place. */
  swap(): Promise<void>;
  /** Cleans up the held parts; nothing else changes. Does nothing after `swap`. Never rejects. */
  drop(): Promise<void>;
}

/** A plan with its loaded parts. */
interface LoadedPlan {
  readonly parts: readonly AgentPart[];
  readonly plan: PlanInForce;
}

export class AgentChanges {
  #placed: readonly AgentPart[] = [];
  /** The plan that takes its place after the running step. */
  #next: LoadedPlan | undefined;
  #whenPlaced: (() => void)[] = [];
  /** The new parts of the change that is being prepared, or that is prepared. */
  #held: readonly AgentPart[] | undefined;
  /** Aborted when the agent ends: a change that is being prepared is given up. */
  readonly #closing = new AbortController();
  /** The parts whose turn layers the running turn uses; undefined when no turn runs. */
  #turnParts: readonly AgentPart[] | undefined;
  /** Parts that are cleaned up when the running turn has ended. */
  #untilTurnEnds: AgentPart[] = [];
  #cleaning: Promise<unknown> = Promise.resolve();

  constructor(private readonly deps: AgentChangesDeps) {}

  /** The extensions in place, in the order of the plan. */
  get extensions(): readonly ExtensionPart[] {
    return this.#placed.flatMap(({ extension }) => extension ?? []);
  }

  /** The newest plan: the one that waits for the end of the step, or the one in force. */
  get newestPlan(): PlanInForce {
    return this.#next?.plan ?? this.deps.planNow();
  }

  /** Loads all parts of the agent. If one fails, those before it are cleaned up. */
  async start(wanted: WantedParts): Promise<void> {
    if (wanted.tools.length + wanted.extensions.length === 0) return;
    const onOpened = (_: AgentPart, parts: readonly AgentPart[]) => this.#place(parts);
    try {
      this.#place(await this.#load(wanted, 'in place', onOpened));
      this.deps.check(this.deps.layers.of('model'), this.deps.planNow());
    } catch (error) {
      await this.#cleanUp(this.#placed);
      throw error;
    }
  }

  /**
   * Loads the new and changed parts of the wanted plan and holds them. One change is prepared at a time. Cleanups are not
   * awaited, neither those of earlier changes nor, after an error, those of the parts that were loaded. **Errors** —
   * those of the parts; `E_RELOAD_FAILED` if another change is being prepared.
   */
  async prepare(wanted: WantedParts, plan: PlanInForce, signal?: AbortSignal, change = 'own'): Promise<PreparedChange> {
    if (this.#held !== undefined) {
      throw new GoondanError('E_RELOAD_FAILED', 'Another change of this agent is being prepared.', {
        suggestion: 'Swap or drop the other change first.',
      });
    }
    const held: AgentPart[] = [];
    this.#held = held;
    const { forgetModules } = await import('./forget-modules.ts');
    const { filesOfChange } = await import('./match-parts.ts');
    const files = filesOfChange(this.#newest, wanted);
    const { forget = forgetModules } = this.deps;
    const drop = async () => {
      if (this.#held !== held) return;
      this.#held = undefined;
      // A later change must not get the modules of this one.
      forget(files, `drop ${change}`);
      await this.#cleanUp(held);
    };
    forget(files, `prepare ${change}`);
    try {
      const onOpened = (part: AgentPart) => void held.push(part);
      const parts = await this.#load(wanted, 'held', onOpened, this.#untilClosed(signal));
      const layers = parts.flatMap(({ extension }) => extension?.layers.of('model') ?? []);
      this.deps.check(layers, plan);
      return { plan, drop, swap: () => this.#commit(held, { parts, plan }) };
    } catch (error) {
      // The error must not wait for cleanups: they may hang.
      void drop();
      throw error;
    }
  }

  /** Puts a change in place that waits for the end of the step. Returns true if there was one. */
  betweenSteps(): boolean {
    if (this.#next === undefined) return false;
    this.#swap(this.#next);
    return true;
  }

  turnStarts(): void {
    this.#turnParts = this.#placed;
  }

  /** Called when no layer of the turn runs any more. */
  turnEnds(): void {
    this.#turnParts = undefined;
    this.betweenSteps();
    void this.#cleanUp(this.#untilTurnEnds.splice(0));
  }

  /** Cleans up all parts, within `graceMs`. Never rejects. */
  async close(graceMs: number): Promise<void> {
    this.#closing.abort(new GoondanError('E_AGENT_CLOSED', 'The agent is shut down.'));
    const waiting = this.#next?.parts ?? [];
    const all = new Set([...this.#untilTurnEnds, ...this.#placed, ...waiting, ...(this.#held ?? [])]);
    const endsAt = this.deps.clock.elapsed() + graceMs;
    await this.#runCleanups([...all], graceMs);
    await waitAtMost(this.deps.clock, Math.max(0, endsAt - this.deps.clock.elapsed()), this.#cleaning);
  }

  /** The parts of the newest plan: the one that waits for the end of the step, or the one in place. */
  get #newest(): readonly AgentPart[] {
    return this.#next?.parts ?? this.#placed;
  }

  async #load(
    wanted: WantedParts,
    stage: 'held' | 'in place',
    onOpened: (part: AgentPart, parts: readonly AgentPart[]) => void,
    signal?: AbortSignal,
  ): Promise<readonly AgentPart[]> {
    const { tools, clock } = this.deps;
    const { loadParts } = await import('./load-parts.ts');
    return loadParts(wanted, {
      running: this.#newest,
      stage,
      clock,
      deps: { ...this.deps, onLate: (part) => void this.#runCleanups([{ extension: part }], CLEAN_UP_MS) },
      isDeclared: (name) => tools.isDeclaredTool(name),
      onOpened,
      signal,
    });
  }

  #commit(held: readonly AgentPart[], next: LoadedPlan): Promise<void> {
    if (this.#held !== held) return Promise.reject(new GoondanError('E_RELOAD_FAILED', 'This change was dropped.'));
    this.#held = undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#whenPlaced.push(resolve);
    const placed = new Set([...this.#placed, ...next.parts]);
    // Parts of a change that this one replaces before the change was in place.
    const given = this.#next?.parts.filter((part) => !placed.has(part)) ?? [];
    this.#next = next;
    if (this.#turnParts === undefined) this.#swap(next);
    void this.#cleanUp(given);
    return promise;
  }

  /** The move: everything below is synchronous, and nothing in it can fail. */
  #swap({ parts, plan }: LoadedPlan): void {
    this.#next = undefined;
    const staying = new Set(parts);
    const before = new Set(this.#placed);
    const leaving = this.#placed.filter((part) => !staying.has(part));
    const entering = parts.flatMap((part) => (before.has(part) ? [] : (part.extension ?? [])));
    for (const { extension } of leaving) {
      extension?.leave(() => this.extensions.some(({ name }) => name === extension.name));
    }
    this.#place(parts);
    for (const extension of entering) extension.enter();
    this.deps.exchange(plan);
    for (const extension of entering) extension.announce();
    for (const resolve of this.#whenPlaced.splice(0)) resolve();
    this.#untilTurnEnds.push(...leaving.filter((part) => this.#isInTurn(part)));
    void this.#cleanUp(leaving.filter((part) => !this.#isInTurn(part)));
  }

  #place(parts: readonly AgentPart[]): void {
    this.#placed = parts;
    const { extensions } = this;
    extensions.forEach((extension, position) => void (extension.position = position));
    this.deps.layers.show(extensions.map(({ layers }) => layers));
    this.deps.tools.show(parts.map(({ tools }) => tools));
  }

  /** Returns true if the running turn is inside a turn layer of this part. */
  #isInTurn(part: AgentPart): boolean {
    return this.#turnParts?.includes(part) === true && (part.extension?.layers.of('turn').length ?? 0) > 0;
  }

  /** Cleans up these parts after those of earlier changes. Never rejects. */
  #cleanUp(parts: readonly Pick<AgentPart, 'extension'>[]): Promise<void> {
    if (parts.every(({ extension }) => extension === undefined)) return Promise.resolve();
    const done = this.#cleaning
      .then(() => this.#runCleanups(parts, CLEAN_UP_MS))
      .then(() => parts.forEach(({ extension }) => extension?.end()));
    this.#cleaning = done;
    return done;
  }

  /** Cleans up these parts, last one first. Never rejects: problems are reported. */
  async #runCleanups(parts: readonly Pick<AgentPart, 'extension'>[], graceMs: number): Promise<void> {
    const extensions = parts.flatMap(({ extension }) => extension ?? []).toReversed();
    const cleanups = extensions.flatMap((part) => part.takeCleanups().map((cleanup) => ({ name: part.name, cleanup })));
    await runCleanups(cleanups, graceMs, this.deps.clock, this.deps.report);
  }

  #untilClosed(signal: AbortSignal | undefined): AbortSignal {
    const closing = this.#closing.signal;
    return signal === undefined ? closing : AbortSignal.any([signal, closing]);
  }
}
