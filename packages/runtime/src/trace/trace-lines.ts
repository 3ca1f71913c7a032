/**
 * The lines of a turn's trace file, each an object of JSON. A turn that was resumed has a `start` for each of its runs,
 * in one file. A chain is written when it is over, and before that if it takes longer than a moment; it counts as it is
 * there last.
 */
import type { AgentEventSource, CodePlace, ExtensionStatusChanged, TurnResult } from '@goondan/types';
import type { ChainRecord } from './turn-trace.ts';
import type { EffectRecord } from './effect-record.ts';
import type { HaltRecord } from './halt-record.ts';
import type { TurnBeginning } from './recording.ts';
import type { ResumePoint } from './resume-point.ts';

export const TRACE_FORMAT = 1;

export interface StartLine {
  readonly type: 'start';
  readonly format: number;
  readonly time: string;
  readonly turnId: string;
  readonly agentName: string;
  readonly instanceKey: string;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  /** Who asked for it. */
  readonly source?: AgentEventSource;
  readonly input?: string;
  readonly resumed?: true;
}

export interface ChainLine {
  readonly type: 'chain';
  /** Counted in the order the chains of this run started. */
  readonly n: number;
  /** The one it is inside of; absent of the turn's own, which is the first. */
  readonly parent?: number;
  readonly chain: StoredChain;
}

/** Lists that are empty, and counts of 0, are left out. */
export type StoredChain = Omit<ChainRecord, 'inside' | 'layers'> & { readonly layers?: readonly StoredLayer[] };
export type StoredLayer = Pick<ChainRecord['layers'][number], 'extension' | 'name' | 'kind'> &
  Partial<ChainRecord['layers'][number]>;

/** What a replay begins with. */
export interface BeginningLine extends TurnBeginning {
  readonly type: 'beginning';
}

/** Of a run that goes on with what another one had begun. */
export interface ResumeLine {
  readonly type: 'resume';
  /** Absent when it was too long to be kept. */
  readonly takenUp?: ResumePoint;
}

/** The run was cancelled, or left. Effects that ended before are in lines before it. */
export interface HaltLine extends HaltRecord {
  readonly type: 'halt';
}

export interface EffectLine extends EffectRecord {
  readonly type: 'effect';
}

/** How something is that an extension needs: as the run began, and whenever it changed. */
export interface StatusLine {
  readonly type: 'status';
  readonly status: ExtensionStatusChanged;
}

export interface EndLine {
  readonly type: 'end';
  readonly time: string;
  readonly durationMs: number;
  readonly finishReason: TurnResult['finishReason'];
  readonly truncated?: true;
  readonly stepCount: number;
  readonly error?: string;
  /** Where code of the bundle threw. */
  readonly place?: CodePlace;
  readonly stack?: string;
  /** Chains past the bound. */
  readonly chainsMore?: number;
}

export interface DroppedLine {
  readonly type: 'dropped';
  readonly count: number;
}

/** The file is full: chains that come now are not written. */
export interface CutLine {
  readonly type: 'cut';
}

export type TraceLine =
  | StartLine
  | BeginningLine
  | ResumeLine
  | EffectLine
  | ChainLine
  | HaltLine
  | StatusLine
  | EndLine
  | DroppedLine
  | CutLine;

/** Without what says nothing: most layers change nothing. */
export function packChain({ layers, ...chain }: Omit<ChainRecord, 'inside'>): StoredChain {
  const rounded = { ...chain, startMs: round(chain.startMs), totalMs: round(chain.totalMs) };
  return layers.length === 0 ? rounded : { ...rounded, layers: layers.map(packLayer) };
}

export function unpackChain({ layers = [], ...chain }: StoredChain): Omit<ChainRecord, 'inside'> {
  const unpack = ({ extension, name, kind, ...rest }: StoredLayer) => ({
    extension,
    name,
    kind,
    ...emptyLayer,
    ...rest,
  });
  return { ...chain, layers: layers.map(unpack) };
}

const emptyLayer = {
  startMs: 0,
  ownMs: 0,
  totalMs: 0,
  outcome: 'passed',
  changed: [],
  resultChanged: [],
  emitted: [],
  emittedMore: 0,
  messages: [],
} as const;

function packLayer(layer: ChainRecord['layers'][number]): StoredLayer {
  const { extension, name, kind, changed, resultChanged, emitted, emittedMore, messages, outcome, ...rest } = layer;
  const { startMs, ownMs, totalMs, ...more } = rest;
  return {
    extension,
    name,
    kind,
    startMs: round(startMs),
    ownMs: round(ownMs),
    totalMs: round(totalMs),
    ...more,
    ...(outcome === 'passed' ? {} : { outcome }),
    ...(changed.length === 0 ? {} : { changed }),
    ...(resultChanged.length === 0 ? {} : { resultChanged }),
    ...(emitted.length === 0 ? {} : { emitted }),
    ...(emittedMore === 0 ? {} : { emittedMore }),
    ...(messages.length === 0 ? {} : { messages }),
  };
}

/** To the microsecond. */
function round(ms: number): number {
  return Math.round(ms * 1_000) / 1_000;
}
