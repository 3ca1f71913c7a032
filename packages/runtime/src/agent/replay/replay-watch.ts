/**
 * Watches a turn that is run again, beside what was recorded of it: finds for each chain and layer the one it was then,
 * gives the layer's code what it drew then, and compares what it does at the moment it does it. The first difference is
 * the first in the order in which things happen.
 */
import { digestJson } from '../../json/digest-json.ts';
import { type Change, diffJson } from '../../json/diff-json.ts';
import { type Mask, noSecrets } from '../../log/mask-secrets.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ChainRecord, LayerRecord } from '../../trace/chain-record.ts';
import { describeChain } from '../../trace/describe-chain.ts';
import { currentScope } from '../../trace/draw-scope.ts';
import type { EffectRecord, RecordedOutcome } from '../../trace/effect-record.ts';
import type { ChainSpan, TurnObserver, WatchedChain, WatchedTurn } from '../../trace/layer-span.ts';
import { EffectRecorder } from '../../trace/record-effect.ts';
import type { RecordedChain } from '../../trace/recorded-chain.ts';
import type { Recording } from '../../trace/recording.ts';
import type { Divergence, ReplayOutcome } from '../../trace/replay.ts';
import { TurnKeeper } from '../../trace/turn-keeper.ts';
import type { ToolRegistry } from '../tool/tool-registry.ts';
import type { LayerDifference } from './compare-layer.ts';
import { type Doer, ReplayedChain } from './replayed-chain.ts';
import { ServedDraws } from './served-draws.ts';
import type { AskedEffect } from './turn-replay.ts';

export class ReplayWatch implements TurnObserver {
  readonly #recording: Recording;
  readonly #effects: ReadonlyMap<string, EffectRecord>;
  readonly #ignored: ReadonlySet<string>;
  readonly #describe = new EffectRecorder();
  readonly #keeper: TurnKeeper;
  readonly #stopped = Promise.withResolvers<void>();
  readonly #served = { model: 0, tool: 0, agent: 0, approval: 0 };
  readonly #chains: ReplayedChain[] = [];
  #mask: Mask = noSecrets;
  #tools: Pick<ToolRegistry, 'get'> | undefined;
  #first: Divergence | undefined;
  /** Whoever did something else, where. */
  readonly #differing = new Set<string>();
  #layers = 0;
  #stoppedAt: readonly string[] | undefined;
  /** When the newest chain began then, since the turn began. */
  #atMs = 0;

  constructor(recording: Recording, ignored: readonly string[], clock: Clock) {
    this.#recording = recording;
    this.#effects = new Map(recording.effects.map((effect) => [effect.key, effect]));
    this.#ignored = new Set(ignored);
    this.#keeper = new TurnKeeper(clock, () => undefined);
  }

  /** The agent's, now that it has started. */
  set tools(tools: Pick<ToolRegistry, 'get'>) {
    this.#tools = tools;
  }

  /** The turn cannot go on: the recording has no answer. */
  get stopped(): Promise<void> {
    return this.#stopped.promise;
  }

  /** Where the recording is, for whatever of the runtime looks at the clock. */
  get now(): Date {
    return new Date(Date.parse(this.#recording.startedAt) + this.#atMs);
  }

  get mask(): Mask {
    return this.#mask;
  }

  started({ mask }: WatchedTurn): void {
    this.#mask = mask;
    this.#keeper.start();
  }

  chain(chain: WatchedChain, parent: ChainSpan | undefined): ReplayedChain | undefined {
    const outer = parent instanceof ReplayedChain ? parent : undefined;
    const now = this.#keeper.open(chain, outer?.now, outer?.activeLayer);
    if (now === undefined) return undefined;
    const { by } = now;
    const then = outer === undefined ? this.#recording.chain : outer.findInside(chain.kind, chain.id);
    outer?.coreBegins(by);
    const opened = new ReplayedChain(this, now, then, outer, by);
    this.#chains.push(opened);
    if (then === undefined) this.#tellUnasked(opened, by);
    else this.#compareAsked(opened, then);
    return opened;
  }

  /** What code of this layer draws; `then`: the layer as it was. */
  drawsFor(chain: RecordedChain, layer: Doer, then: LayerRecord | undefined, run: number): ServedDraws {
    const { turnId, startedAt } = this.#recording;
    const now = Date.parse(startedAt) + (then?.startMs ?? this.#atMs);
    const seed = [turnId, chain.chain.kind, chain.chain.id, layer?.extension, layer?.name, run].join('\0');
    return new ServedDraws({ drew: then?.drew ?? [], now, seed });
  }

  /** What code of this extension draws while it is loaded. */
  registerDraws(extension: string): ServedDraws {
    const { turnId, startedAt, extensions } = this.#recording;
    const drew = extensions.find(({ name }) => name === extension)?.drew ?? [];
    return new ServedDraws({ drew, now: Date.parse(startedAt), seed: [turnId, extension].join('\0') });
  }

  compared(): void {
    this.#layers += 1;
  }

  differs(place: readonly string[], doer: Doer, difference: LayerDifference): void {
    const layer = JSON.stringify([place, doer?.extension, doer?.name]);
    if (this.#differing.has(layer)) return;
    this.#differing.add(layer);
    if (this.#first !== undefined || (doer !== undefined && this.#ignored.has(doer.extension))) return;
    const named =
      doer === undefined ? {} : { extension: doer.extension, ...(doer.name !== '' && { layer: doer.name }) };
    this.#first = { place, ...named, ...difference };
  }

  /** See `TurnReplay`. */
  serve({ key, kind, asked }: AskedEffect): RecordedOutcome | undefined {
    const chain = currentScope();
    const here = chain instanceof ReplayedChain ? chain : undefined;
    const doer = here?.activeLayer ?? here?.by;
    here?.coreBegins(here.activeLayer);
    const now = this.#describe.describe(kind, asked, this.#mask);
    const then = this.#effects.get(key);
    if (then?.outcome !== undefined && digestJson(then.asked) === digestJson(now)) {
      this.#served[kind] += 1;
      return then.outcome;
    }
    const place = here?.place ?? [];
    const message = then === undefined ? `asks ${whom[kind]}, which it had not` : `asks ${whom[kind]} something else`;
    // After something else was done, it follows that something else is asked.
    if (this.#differing.size === 0) {
      const { changes } = diffJson(then?.asked, now);
      this.differs(place, doer ?? this.#ownerOf(changes), { what: 'asked', message, changes });
    }
    this.#stoppedAt ??= place;
    this.#stopped.resolve();
    return undefined;
  }

  /** It did not go on. */
  hang(afterMs: number): void {
    const chain = this.#chains.findLast(({ activeLayer }) => activeLayer !== undefined);
    const message = `did not go on within ${afterMs} ms`;
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
    };
  }

  get recording(): Recording {
    return this.#recording;
  }

  /** What a layer asks with, before the layers of what it asks for. */
  #compareAsked({ place, now, by }: ReplayedChain, then: ChainRecord): void {
    this.#atMs = Math.max(this.#atMs, then.startMs);
    const { asked, input = '' } = describeChain(now, { turnStartedAt: 0 });
    if (asked === then.asked) return;
    const message = `asks for a ${then.kind} of ${then.label} with something else`;
    const changes = input === then.input ? [] : [{ path: 'asked', before: then.input ?? '', after: input }];
    this.differs(place.slice(0, -1), by, { what: 'asked', message, changes });
  }

  /** The extension that registers, or registered, a tool that is another one now. */
  #ownerOf(changes: readonly Change[]): Doer {
    const tool = changes.flatMap(({ path }) => /^tools\.(.+)$/.exec(path)?.[1] ?? [])[0];
    if (tool === undefined) return undefined;
    const owner =
      this.#tools?.get(tool)?.extension ??
      this.#recording.extensions.find(({ tools = [] }) => tools.includes(tool))?.name;
    return owner === undefined ? undefined : { extension: owner, name: '' };
  }

  #tellUnasked({ place, now }: ReplayedChain, by: Doer): void {
    const { kind, label } = now.chain;
    const asks = kind === 'step' ? 'runs another step' : `asks for a ${kind} of ${label}, which it had not`;
    this.differs(place.slice(0, -1), by, { what: 'asked', message: asks, changes: [{ path: kind, after: label }] });
  }
}

const whom = {
  model: 'the model',
  tool: 'for a tool call',
  agent: 'another agent',
  approval: 'a person',
} as const;
