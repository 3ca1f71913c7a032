/**
 * Cuts the lines of a run at the moment it stopped: later lines are left out, and running chains become unfinished. The
 * lines of a completed run stay unchanged. Pure.
 */
import type { ChainRecord, LayerRecord } from './turn-trace.ts';
import type { HaltRecord } from './halt-record.ts';
import type { RecordedHalt } from './recording.ts';
import type { LineOf, TraceLine } from './trace-lines.ts';

/**
 * Cuts the lines. `error`: the error with which the run ended; undefined when the run has no end because another
 * process continued the turn.
 */
export function haltRun(
  lines: readonly TraceLine[],
  error: string | undefined,
):
  | { readonly lines: readonly TraceLine[]; readonly halt?: Omit<RecordedHalt, 'place' | 'layer'> }
  | { readonly problem: string } {
  const at = lines.findIndex(({ type }) => type === 'halt');
  const halt = lines[at] as LineOf<'halt'> | undefined;
  if (error === undefined) return halt === undefined ? crashed(lines) : halted(lines, at, halt, 'left');
  if (!/^(E_CANCELLED|E_TURN_TIMEOUT)\b/.test(error)) return { lines };
  if (halt?.error === undefined) return { problem: 'it was cancelled or timed out, and the point was not recorded' };
  return halted(lines, at, halt, 'cancelled');
}

function halted(
  lines: readonly TraceLine[],
  at: number,
  { error, begun, open, asked }: HaltRecord,
  how: 'cancelled' | 'left',
): ReturnType<typeof haltRun> {
  const stages = new Map(open.map((each) => [each.n, each.stages]));
  const kept = lines.flatMap((line, index): TraceLine[] => {
    // An effect that had begun before the halt is kept, even if the halt ended it and its line comes later.
    if (line.type === 'effect') return index < at || asked.includes(line.key) ? [line] : [];
    if (line.type !== 'chain') return [line];
    if (line.n >= begun) return [];
    const ofLayers = stages.get(line.n);
    return [
      ofLayers === undefined ? line : stopped(line, (_layer, place) => ofLayers[place] ?? undefined, ofLayers.length),
    ];
  });
  return { lines: kept, halt: { how, ...(error === undefined ? {} : { error }), hasBegun: begun > 0, asked } };
}

/**
 * Cuts the lines of a crashed run. The last line of an unfinished chain was written some time before the crash, so the
 * layers of the chain got at least as far as that line says.
 */
function crashed(lines: readonly TraceLine[]): ReturnType<typeof haltRun> {
  const stageOf = ({ outcome, stage }: LayerRecord) => (outcome === 'running' ? stage : undefined);
  const kept = lines.map((line) =>
    line.type === 'chain' && line.chain.isUnfinished === true ? stopped(line, stageOf) : line,
  );
  return { lines: kept, halt: { how: 'crashed', hasBegun: lines.some(({ type }) => type === 'chain'), asked: [] } };
}

/** Returns a chain as it was when the run stopped. `most`: the number of its layers that had begun. */
function stopped(
  line: LineOf<'chain'>,
  stageOf: (layer: LayerRecord, place: number) => LayerRecord['stage'],
  most?: number,
): TraceLine {
  const { outcome: _outcome, error: _error, retryMs: _retry, tokens: _tokens, ...chain } = line.chain;
  const layers = chain.layers.slice(0, most).map((layer, place) => asItWas(layer, stageOf(layer, place)));
  return { ...line, chain: { ...chain, layers, isUnfinished: true } };
}

/**
 * Removes everything a layer did after this stage. If the layer had not called `next()`, it is not known what it had
 * done by then, so all its changes are removed.
 */
function asItWas(layer: LayerRecord, stage: LayerRecord['stage']): LayerRecord {
  if (stage === undefined) return layer;
  const { error: _error, isBeforeNext: _before, isAfterNext: _after, emittedAfter = 0, ...rest } = layer;
  const isIn = stage === 'in';
  const emitted = isIn ? [] : layer.emitted.slice(0, layer.emitted.length - emittedAfter);
  const running = { ...rest, outcome: 'running', stage, resultChanged: [], emitted } as const;
  if (!isIn) return running;
  const { marks: _marks, isCut: _isCut, ...begun } = running;
  return { ...begun, changed: [], messages: [], emittedMore: 0 };
}

/** Finds the innermost running chain. If several chains are running side by side, follows the one that began last. */
export function placeOfHalt(turn: ChainRecord): Pick<RecordedHalt, 'place' | 'layer'> {
  const place: string[] = [];
  let at = turn;
  for (;;) {
    const inner = at.inside.findLast(({ isUnfinished }) => isUnfinished === true);
    if (inner === undefined) break;
    place.push(`${inner.kind} ${inner.label}`);
    at = inner;
  }
  const active = at.layers.findLast(({ stage }) => stage === 'in' || stage === 'out');
  return { place, ...(active && { layer: { extension: active.extension, name: active.name } }) };
}
