/**
 * Records a turn's chains as a tree: every layer with its own time (what is inside it excluded) and what it changed.
 * Diffs, not copies.
 */
import type { JsonValue, MessageEvent } from '@goondan/types';
import { type Change, diffJson } from '../json/diff-json.ts';
import type { Clock } from '../ports/clock.ts';
import type { ChainSpan, LayerSpan, TurnObserver, WatchedChain, WatchedLayer } from './layer-span.ts';

export interface LayerRecord {
  readonly extension: string;
  readonly name: string;
  readonly kind: string;
  /** Without what is inside it. */
  ownMs: number;
  totalMs: number;
  outcome: 'running' | 'passed' | 'short_circuit' | 'skipped' | 'failed';
  /** Fields it changed before `next()`: the catalog, the arguments, the model call. */
  changed: Change[];
  /** What it changed in the result that came from inside. */
  resultChanged: Change[];
  emitted: string[];
  /** Emitted beyond those listed. */
  emittedMore: number;
  error?: string;
}

export interface ChainRecord {
  readonly kind: string;
  readonly label: string;
  readonly id: string;
  totalMs: number;
  readonly layers: LayerRecord[];
  /** Chains that ran inside this one, in the order they started. */
  readonly inside: ChainRecord[];
  error?: string;
}

export interface TurnRecorder extends TurnObserver {
  /** The turn's own chain, once it has started. */
  turn(): ChainRecord | undefined;
}

/** Emitted events listed for one layer; past it they are only counted. */
const MOST_EMITTED = 100;

export function recordTurn(clock: Clock): TurnRecorder {
  const spans = new WeakMap<ChainSpan, ChainRecord>();
  let root: ChainRecord | undefined;
  return {
    turn: () => root,
    chain(chain, parent) {
      const startedAt = clock.elapsed();
      const record: ChainRecord = {
        kind: chain.kind,
        label: chain.label,
        id: chain.id,
        totalMs: 0,
        layers: [],
        inside: [],
      };
      const outer = parent === undefined ? root : spans.get(parent);
      if (outer === undefined) root = record;
      else outer.inside.push(record);
      const span: ChainSpan = {
        enter(layer) {
          const layerRecord = newLayer(layer);
          record.layers.push(layerRecord);
          return watchLayer(chain, layerRecord, clock);
        },
        end(error) {
          record.totalMs = clock.elapsed() - startedAt;
          if (error !== undefined) record.error = describe(error);
        },
      };
      spans.set(span, record);
      return span;
    },
  };
}

function watchLayer(chain: WatchedChain, record: LayerRecord, clock: Clock): LayerSpan {
  const startedAt = clock.elapsed();
  const look = () => shown(() => chain.inspect());
  const before = look();
  let resumedAt: number | undefined = startedAt;
  let innerResult: JsonValue | undefined;
  const pause = () => {
    if (resumedAt !== undefined) record.ownMs += clock.elapsed() - resumedAt;
    resumedAt = undefined;
  };
  return {
    next() {
      pause();
      record.changed = diffJson(before, look());
    },
    innerSettled(result) {
      innerResult = toJson(result);
      resumedAt = clock.elapsed();
    },
    emitted(event) {
      if (record.emitted.length >= MOST_EMITTED) record.emittedMore++;
      else record.emitted.push(describeEvent(event));
    },
    shortCircuit() {
      record.outcome = 'short_circuit';
    },
    exit(outcome) {
      pause();
      record.totalMs = clock.elapsed() - startedAt;
      if ('error' in outcome) {
        record.outcome = outcome.skipped === true ? 'skipped' : 'failed';
        record.error = describe(outcome.error);
        return;
      }
      if (record.outcome === 'running') record.outcome = 'passed';
      if (record.outcome === 'passed') record.resultChanged = diffJson(innerResult, toJson(outcome.result));
    },
  };
}

function newLayer({ extension, name, kind }: WatchedLayer): LayerRecord {
  return {
    extension,
    name,
    kind,
    ownMs: 0,
    totalMs: 0,
    outcome: 'running',
    changed: [],
    resultChanged: [],
    emitted: [],
    emittedMore: 0,
  };
}

function describeEvent(event: MessageEvent): string {
  switch (event.type) {
    case 'append':
      return `append ${event.message.data.role} ${event.message.id}`;
    case 'replace':
      return `replace ${event.targetId}`;
    case 'remove':
      return `remove ${event.targetId}`;
    case 'truncate':
      return 'truncate';
  }
}

/** A result as it is now; layers may change the very object afterwards. */
function toJson(result: unknown): JsonValue | undefined {
  // Results are JSON but for the dates in messages, which this turns into text.
  return result === undefined ? undefined : shown(() => JSON.parse(JSON.stringify(result)) as JsonValue);
}

/** A layer may have left something that is not JSON. Watching must not decide what comes of it: it is not shown. */
function shown<Value>(look: () => Value): Value | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

function describe(thrown: unknown): string {
  if (!(thrown instanceof Error)) return shown(() => JSON.stringify(thrown)) ?? typeof thrown;
  return 'code' in thrown ? `${String(thrown.code)}: ${thrown.message}` : thrown.message;
}
