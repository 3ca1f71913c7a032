/**
 * One extension of an agent in this process, with everything that it registered. Its stage decides how far its calls
 * reach:
 *
 * 1. `held`: loaded for a change of the plan. Nothing that it registers, sets or emits is visible yet.
 * 2. `in place`: one of the agent's extensions.
 * 3. `leaving`: not one of them any more. Its turn layer may still run, and it still has to clean up. Its state belongs to
 *    its successor, if it has one.
 * 4. `gone`: cleaned up. Its calls are ignored.
 */
import type { Cleanup, ExtensionResource, ExtensionStateApi, JsonValue } from '@goondan/types';
import { checkExtensionResource } from '../../config/check-extension-resource.ts';
import type { DeclaredExtension } from '../../config/declared-extension.ts';
import type { RunningCode } from '../../ipc/running-code.ts';
import { defined } from '../../json/defined.ts';
import type { Log } from '../../log/log-sink.ts';
import type { DrawScope } from '../../trace/draw-scope.ts';
import { LayerRegistry } from '../pipeline/layer-registry.ts';
import { codeOf, withFile } from '../tool/tool-fingerprint.ts';
import { type ReportRefusedTool, ToolRegistry } from '../tool/tool-registry.ts';
import type { EventBus, Handler } from './event-bus.ts';
import { type ExtensionStates, stateApi } from './extension-states.ts';
import type { ExtensionStatuses } from './extension-statuses.ts';

export interface ExtensionDeps {
  readonly states: ExtensionStates;
  readonly bus: EventBus;
  readonly statuses: ExtensionStatuses;
  /** Masks secrets of an extension from now on. */
  readonly addSecrets: (secrets: unknown, extension: string) => void;
  readonly loggerFor: (extension: string) => Console;
  readonly log: Log;
  /** Notes which code of the bundle runs. */
  readonly running: RunningCode;
  readonly onRefusedTool: ReportRefusedTool;
  /** Counts the tools that extensions register. */
  readonly nextToolNumber: () => number;
  /** Called when an extension has registered although it is gone, because its change was dropped meanwhile. */
  readonly onLate: (part: ExtensionPart) => void;
  /** Returns the scope for an extension's draws while it is loaded; absent when draws are not recorded. */
  readonly drawScopeFor?: ((extension: string) => DrawScope) | undefined;
  /** True if the process also runs other conversations. */
  readonly sharesProcess?: boolean | undefined;
}

/** The maximum number of events that a held extension may emit. */
const MOST_HELD = 1_000;

export class ExtensionPart {
  readonly resource: ExtensionResource;
  readonly layers: LayerRegistry;
  readonly tools: ToolRegistry;
  readonly state: ExtensionStateApi;
  /** The scope of its draws while it is loaded. */
  readonly scope: DrawScope | undefined;
  /** The place among the extensions of its plan, counted from 0. */
  position = 0;
  readonly #subscriptions = new Set<() => void>();
  /** The state that it set while it was held. */
  #ownState: { readonly value: JsonValue } | undefined;
  /** Its emits while it was held, in order. */
  #heldEmits: (() => void)[] = [];
  #cleanups: readonly Cleanup[] = [];
  #hasWarned = false;
  /** Returns true if another extension in place has the name of this one. */
  #hasSuccessor = () => false;

  /** `isDeclared` returns true for the name of a tool that the agent's plan declares. */
  constructor(
    readonly declaration: DeclaredExtension,
    readonly deps: ExtensionDeps,
    private stage: 'held' | 'in place' | 'leaving' | 'gone',
    isDeclared: (name: string) => boolean,
  ) {
    this.resource = checkExtensionResource(declaration.resource);
    this.scope = deps.drawScopeFor?.(this.name);
    const code = codeOf({ ...declaration, entry: this.resource.spec.entry });
    this.layers = new LayerRegistry((kind) =>
      deps.running.marker(withFile(`in the ${kind} layer of extension ${this.name}`, code)),
    );
    this.tools = new ToolRegistry(deps.onRefusedTool, isDeclared, deps.nextToolNumber);
    this.state = stateApi(
      () => (this.#ownState === undefined ? deps.states.get(this.name) : this.#ownState.value),
      (value) => this.#setState(value),
    );
  }

  get name(): string {
    return this.resource.metadata.name;
  }

  /** True if other code of the process may run while this extension is loaded. */
  get isLoadedBeside(): boolean {
    return this.isHeld || this.deps.sharesProcess === true;
  }

  get isHeld(): boolean {
    return this.stage === 'held';
  }

  /** Called when `register` has settled. */
  registered(cleanups: readonly Cleanup[]): void {
    this.#cleanups = cleanups;
    this.#tellLate();
  }

  /** `server`: the value that identifies the server of the tool, if it has one. */
  registerTool(item: unknown, handler: unknown, server?: JsonValue): void {
    if (this.#isOver('tools.register')) return;
    const { root, digest, config } = this.declaration;
    const { entry, config: ownConfig } = this.resource.spec;
    const provider = { ...codeOf(defined({ root, entry, digest })), ...defined({ ownConfig, config, server }) };
    this.tools.register(this.name, item, handler, provider);
  }

  on(event: string, handler: Handler): () => void {
    if (this.#isOver('events.on')) return () => undefined;
    const off = this.deps.bus.on(
      event,
      (...args) => (this.stage === 'in place' ? handler(...args) : undefined),
      this.name,
    );
    this.#subscriptions.add(off);
    return () => {
      this.#subscriptions.delete(off);
      off();
    };
  }

  emit(event: string, ...args: unknown[]): void {
    if (this.#isOver('events.emit')) return;
    this.#whenPlaced(() => this.deps.bus.emit(event, ...args));
  }

  tellStatus(status: unknown): void {
    if (this.#isOver('events.emit')) return;
    // The status of a leaving extension would replace the status of its successor, which has the same name.
    if (this.stage !== 'leaving') this.#whenPlaced(() => this.deps.statuses.told(this.name, status));
  }

  /** Masks secrets at once, also those of an extension that is not in place. */
  keepSecrets(secrets: unknown): void {
    this.deps.addSecrets(secrets, this.name);
  }

  /** Puts the held extension in place. `announce` follows when all parts of the change are in place. */
  enter(): void {
    if (this.stage !== 'held') return;
    this.stage = 'in place';
    if (this.#ownState !== undefined) this.deps.states.put(this.name, this.#ownState.value);
    this.#ownState = undefined;
  }

  /** Sends the emits and statuses of the time before `enter`. */
  announce(): void {
    for (const emit of this.#heldEmits.splice(0)) emit();
  }

  /**
   * Takes the extension out of its place. From now on no event reaches it. `hasSuccessor` returns true while another
   * extension in place has its name, and so its state.
   */
  leave(hasSuccessor: () => boolean): void {
    this.stage = 'leaving';
    this.#hasSuccessor = hasSuccessor;
    this.deps.statuses.forget(this.name);
  }

  /** Returns the cleanup functions. A second call returns none, so that nothing is cleaned up twice. */
  takeCleanups(): readonly Cleanup[] {
    const cleanups = this.#cleanups;
    this.#cleanups = [];
    return cleanups;
  }

  /** Called after the cleanup: the extension can change nothing any more. */
  end(): void {
    this.stage = 'gone';
    this.#ownState = undefined;
    this.#heldEmits = [];
    for (const off of this.#subscriptions) off();
    this.#subscriptions.clear();
    this.#tellLate();
  }

  /** Lets a part be cleaned up that finished registering while its change was dropped, or later. */
  #tellLate(): void {
    if (this.stage === 'gone' && this.#cleanups.length > 0) this.deps.onLate(this);
  }

  #setState(value: JsonValue): void {
    if (this.#isOver('state.set', this.#hasSuccessor())) return;
    const checked = this.deps.states.check(this.name, value);
    if (this.stage === 'held') this.#ownState = { value: checked };
    else this.deps.states.put(this.name, checked);
  }

  #whenPlaced(emit: () => void): void {
    if (this.stage !== 'held') return emit();
    if (this.#heldEmits.length < MOST_HELD) this.#heldEmits.push(emit);
    else this.#warnOnce(`It emitted more than ${MOST_HELD} events before it was in place; the others were ignored.`);
  }

  #isOver(call: string, hasSuccessor = false): boolean {
    if (this.stage !== 'gone' && !hasSuccessor) return false;
    this.#warnOnce(`The extension was removed or changed, but its old code called api.${call}. The call was ignored.`);
    return true;
  }

  #warnOnce(message: string): void {
    if (this.#hasWarned) return;
    this.#hasWarned = true;
    this.deps.log('warn', message, { extension: this.name, event: 'extension.call_ignored' });
  }
}
