/**
 * Watches a replayed turn and compares it with its recording. It finds the record of each running chain and layer,
 * returns the layer's recorded draws, and compares the layer while it runs. The first divergence reported is the
 * earliest in time.
 */
import type { JsonValue } from '@goondan/types';
import { digestJson } from '../../json/digest-json.ts';
import { type Change, diffJson } from '../../json/diff-json.ts';
import { type Mask, noSecrets } from '../../log/mask-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChainRecord, LayerRecord } from '../../trace/turn-trace.ts';
import { describeSpan } from '../../trace/describe-span.ts';
import { currentScope } from '../../trace/draw-scope.ts';
import type { EffectKind, EffectRecord, RecordedOutcome } from '../../trace/effect-record.ts';
import type { ChainSpan, TurnObserver, SpanStart, WatchedEffect, WatchedTurn } from '../../trace/layer-span.ts';
import { EffectRecorder } from '../../trace/record-effect.ts';
import type { RunningSpan } from '../../trace/running-span.ts';
import type { Recording } from '../../trace/recording.ts';
import type { Divergence, ReplayOutcome } from '../../trace/replay.ts';
import { throwable } from '../../trace/thrown-record.ts';
import { TurnKeeper } from '../../trace/turn-keeper.ts';
import type { RunningAgent } from '../start/start-agent.ts';
import type { LayerDifference } from './compare-layer.ts';
import type { PlanChanges } from './plan-changes.ts';
import { Halting } from './halting.ts';
import { type Doer, ReplayedSpan, whom } from './replayed-span.ts';
import { ServedDraws } from './served-draws.ts';

/** The interval between checks whether layers are still running, in milliseconds. */
const LOOK_MS = 50;
/** The maximum number of checks. */
const MOST_LOOKS = 200;

export class ReplayWatch implements TurnObserver {
  readonly #effects: ReadonlyMap<string, EffectRecord>;
  readonly #ignored: ReadonlySet<string>;
  readonly #describe = new EffectRecorder();
  readonly #keeper: TurnKeeper;
  /** Present when the recorded run was halted. */
  readonly #halting: Halting | undefined;
  /** True when the replay has reached the point of the halt. */
  isHalted = false;
  readonly #cancel = new AbortController();
  /** Aborts at the point where the recorded turn was cancelled, with the same reason. */
  readonly signal = this.#cancel.signal;
  readonly #stopped = Promise.withResolvers<void>();
  /** Resolves when the replay cannot continue, because the recording has no outcome for an effect or has ended. */
  readonly stopped = this.#stopped.promise;
  readonly #served: { -readonly [Kind in keyof ReplayOutcome['served']]: ReplayOutcome['served'][Kind] } = {
    ...{ model: 0, tool: 0, agent: 0, approval: 0 },
  };
  readonly #chains: ReplayedSpan[] = [];
  /** Keys of effects that the replay has requested. */
  readonly #asked = new Set<string>();
  mask: Mask = noSecrets;
  /** The running agent, set once it has started. */
  agent: Pick<RunningAgent, 'parts' | 'layers'> | undefined;
  /** Changes the plan between steps; set once the agent has started. */
  changes: Pick<PlanChanges, 'beforeStep'> | undefined;
  #first: Divergence | undefined;
  /** Layers that diverged, each with its position in the turn. */
  readonly #differing = new Set<string>();
  #layers = 0;
  #stoppedAt: readonly string[] | undefined;
  /** The recorded start of the newest chain, in milliseconds since the start of the turn. */
  #atMs = 0;

  constructor(
    readonly recording: Recording,
    ignored: readonly string[],
    private readonly clock: Clock,
  ) {
    this.#effects = new Map(recording.effects.map((effect) => [effect.key, effect]));
    this.#ignored = new Set(ignored);
    this.#halting = recording.halt && new Halting(recording);
    this.#keeper = new TurnKeeper(clock, () => undefined);
  }

  /** The current time of the recording, for runtime code that reads the clock. */
  get now(): Date {
    return new Date(Date.parse(this.recording.startedAt) + this.#atMs);
  }

  started({ mask }: WatchedTurn): void {
    this.mask = mask;
    this.#keeper.start();
    this.look();
  }

  chain(chain: SpanStart, parent: ChainSpan | undefined): ReplayedSpan | undefined {
    if (this.isHalted) return undefined;
    const outer = parent instanceof ReplayedSpan ? parent : undefined;
    const now = this.#keeper.open(chain, outer?.now, outer?.activeLayer);
    if (now === undefined) return undefined;
    const { by } = now;
    const then = outer === undefined ? this.recording.chain : outer.findInside(chain.kind, chain.id);
    outer?.coreBegins(by);
    const opened = new ReplayedSpan(this, now, then, outer, by);
    this.#chains.push(opened);
    if (then !== undefined) this.#compareAsked(opened, then);
    else if (!opened.isBeyondHalt) this.#tellUnasked(opened, by);
    if (then !== undefined) this.#halting?.began(then, opened);
    if (chain.kind === 'turn') this.changes?.beforeStep(this.recording.resumePoint?.nextStep ?? 0);
    if (chain.kind === 'step') this.changes?.beforeStep(Number(chain.label) + 1);
    this.look();
    return opened;
  }

  chainEnded({ then }: ReplayedSpan): void {
    if (then !== undefined) this.#halting?.ended(then);
    this.look();
  }

  /** Checks whether the point of the halt is reached. Called after every change. */
  look(): void {
    if (this.isHalted || this.#halting?.isReached !== true) return;
    this.isHalted = true;
    const { error, layer } = this.recording.halt ?? {};
    if (error === undefined) return this.#stopped.resolve();
    const cancel = () => this.#cancel.abort(throwable(error));
    // A layer that was running at the halt must start with a signal that is not aborted yet, so the cancel is delayed.
    if (layer === undefined) cancel();
    else setImmediate(cancel);
  }

  /** Returns true if the agent still has this layer. */
  hasLayer({ kind, extension, name }: LayerRecord): boolean {
    const layers = this.agent?.layers(kind) ?? [];
    return layers.some((each) => each.extension === extension && each.name === name);
  }

  /** Returns the draws for the code of this layer. `then`: the record of the layer. */
  drawsFor(chain: RunningSpan, layer: Doer, then: LayerRecord | undefined, run: number): ServedDraws {
    const { turnId, startedAt } = this.recording;
    const now = Date.parse(startedAt) + (then?.startMs ?? this.#atMs);
    const seed = [turnId, chain.chain.kind, chain.chain.id, layer?.extension, layer?.name, run].join('\0');
    return new ServedDraws(then?.drew ?? [], now, seed);
  }

  /** Returns the draws for the code of this extension while it is loaded. */
  registerDraws(extension: string): ServedDraws {
    const { turnId, startedAt, extensions } = this.recording;
    const drew = extensions.find(({ name }) => name === extension)?.drew ?? [];
    return new ServedDraws(drew, Date.parse(startedAt), [turnId, extension].join('\0'));
  }

  compared(): void {
    if (!this.isHalted) this.#layers += 1;
  }

  differs(place: readonly string[], doer: Doer, difference: LayerDifference): void {
    if (this.isHalted) return;
    const layer = JSON.stringify([place, doer?.extension, doer?.name]);
    if (this.#differing.has(layer)) return;
    this.#differing.add(layer);
    if (this.#first !== undefined || (doer !== undefined && this.#ignored.has(doer.extension))) return;
    const named =
      doer === undefined ? {} : { extension: doer.extension, ...(doer.name !== '' && { layer: doer.name }) };
    this.#first = { place, ...named, ...difference };
  }

  /**
   * Implements `TurnReplay.serve`. Returns the recorded outcome. Returns `when cancelled` for an effect that settles
   * only when the replay is cancelled, as the recorded run was; that may never happen.
   */
  serve(effect: Omit<WatchedEffect, 'outcome'>): RecordedOutcome | 'when cancelled' {
    if (this.isHalted) return 'when cancelled';
    const { key, kind, asked } = effect;
    const chain = currentScope();
    const here = chain instanceof ReplayedSpan ? chain : undefined;
    here?.coreBegins(here.activeLayer);
    const now = this.#describe.describe(kind, asked, this.mask);
    const then = this.#effects.get(key);
    const wasPending = this.recording.halt?.asked.includes(key) === true;
    const isSame = then === undefined ? wasPending : digestJson(then.asked) === digestJson(now);
    const outcome = wasPending ? 'when cancelled' : then?.outcome;
    if (isSame && outcome !== undefined) {
      this.#asked.add(key);
      this.#halting?.asked(key);
      if (!wasPending) this.#served[kind] = (this.#served[kind] ?? 0) + 1;
      this.look();
      return outcome;
    }
    const stop = () => this.#stopAt(here, kind, then, now);
    // The recording may lack an effect that was requested just before the halt.
    if (then === undefined && here?.isAtHalt === true) this.#whenQuiet(stop);
    else stop();
    return 'when cancelled';
  }

  /** Calls `stop` when no running layer can bring the replay to the point of the halt any more. */
  #whenQuiet(stop: () => void, looks = 0): void {
    this.clock.after(LOOK_MS, () => {
      const isBusy = this.#chains.some(({ activeLayer }) => activeLayer !== undefined);
      if (looks > 0 && (!isBusy || looks >= MOST_LOOKS)) stop();
      else if (!this.isHalted) this.#whenQuiet(stop, looks + 1);
    });
  }

  #stopAt(here: ReplayedSpan | undefined, kind: EffectKind, then: EffectRecord | undefined, now: JsonValue): void {
    if (this.isHalted) return;
    const place = here?.place ?? [];
    const message =
      then === undefined
        ? `sent a request to ${whom[kind]}, but not in the recording`
        : `sent a different request to ${whom[kind]} than in the recording`;
    // After an earlier divergence, a different request is only a consequence and is not reported.
    if (this.#differing.size === 0) {
      const { changes } = diffJson(then?.asked, now);
      const doer = here?.activeLayer ?? here?.by ?? this.#ownerOf(changes);
      const haltedIn = then === undefined && doer === undefined ? here?.haltedIn : undefined;
      if (haltedIn === undefined) this.differs(place, doer, { what: 'asked', message, changes });
      else this.differs(place, haltedIn, this.#goesOn(haltedIn));
    }
    this.#stoppedAt ??= place;
    this.#stopped.resolve();
  }

  /** Returns the difference for a layer in which the recorded run was halted, but the replay was not. */
  #goesOn(layer: LayerRecord): LayerDifference {
    if (!this.hasLayer(layer))
      return { what: 'gone', message: 'did not run, but the recorded turn ended inside this layer', changes: [] };
    return { what: 'outcome', message: 'continued, but the recorded turn ended inside this layer', changes: [] };
  }

  /**
   * Returns the recorded outcome of an effect that was open when the run was cancelled, or else the reason of the
   * cancel.
   */
  outcomeOfPending(key: string): RecordedOutcome {
    const { outcome } = this.#effects.get(key) ?? {};
    const { error = { message: 'The turn was halted.' }, asked = [] } = this.recording.halt ?? {};
    return outcome !== undefined && asked.includes(key) ? outcome : { ok: false, error };
  }

  /**
   * Returns the recorded effects of layers in this chain that the replay did not request. Model calls are compared as
   * chains.
   */
  unasked(spanId: string | undefined): readonly EffectRecord[] {
    return this.recording.effects.filter(
      ({ key, kind, by }) => kind !== 'model' && by?.span === spanId && by !== undefined && !this.#asked.has(key),
    );
  }

  /** Reports that the replay did not end in time. */
  hang(afterMs: number): void {
    const chain = this.#chains.findLast(({ activeLayer }) => activeLayer !== undefined);
    const message = `did not continue within ${afterMs} ms`;
    this.differs(chain?.place ?? [], chain?.activeLayer, { what: 'hung', message, changes: [] });
    this.#stoppedAt ??= chain?.place ?? [];
  }

  outcome(): ReplayOutcome {
    return {
      ...(this.#first === undefined ? {} : { first: this.#first }),
      others: this.#differing.size - (this.#first === undefined ? 0 : 1),
      layers: this.#layers,
      steps: this.#chains.filter(({ now }) => now.chain.kind === 'step').length,
      served: { ...this.#served },
      ...(this.#stoppedAt === undefined ? {} : { stoppedAt: this.#stoppedAt }),
      ...(this.isHalted ? this.#describeHalt() : {}),
    };
  }

  #describeHalt(): Pick<ReplayOutcome, 'halted'> {
    const { halt } = this.recording;
    if (halt === undefined) return {};
    const { how, place, layer, error } = halt;
    const said = error && (error.code === undefined ? error.message : `${error.code}: ${error.message}`);
    return { halted: { how, place, ...(layer && { layer }), ...(said === undefined ? {} : { error: said }) } };
  }

  /** Compares what a layer requested, before the layers of the requested chain run. */
  #compareAsked({ place, now, by }: ReplayedSpan, then: ChainRecord): void {
    this.#atMs = Math.max(this.#atMs, then.startMs);
    const { asked, input = '' } = describeSpan(now, 0);
    if (asked === then.asked) return;
    const message = `ran ${then.kind} ${then.label} with different arguments than in the recording`;
    const changes = input === then.input ? [] : [{ path: 'asked', before: then.input ?? '', after: input }];
    this.differs(place.slice(0, -1), by, { what: 'asked', message, changes });
  }

  /** Returns the extension of the first tool that differs between the replay and the recording. */
  #ownerOf(changes: readonly Change[]): Doer {
    const tool = changes.flatMap(({ path }) => /^tools\.(.+)$/.exec(path)?.[1] ?? [])[0];
    if (tool === undefined) return undefined;
    const owner =
      this.agent?.parts.tools.get(tool)?.extension ??
      this.recording.extensions.find(({ tools = [] }) => tools.includes(tool))?.name;
    return owner === undefined ? undefined : { extension: owner, name: '' };
  }

  #tellUnasked({ place, now }: ReplayedSpan, by: Doer): void {
    const { kind, label } = now.chain;
    const asks =
      kind === 'step' ? 'ran one more step than in the recording' : `ran ${kind} ${label}, but not in the recording`;
    this.differs(place.slice(0, -1), by, { what: 'asked', message: asks, changes: [{ path: kind, after: label }] });
  }
}
