/**
 * Converts a recorded turn to nested bands: each layer contains the layers inside it, the innermost layer contains the
 * core's work, and a call to another agent contains that agent's turn.
 */
import {
  type ChainRecord,
  hasPassedOn,
  type LayerRecord,
  type MiddlewareKind,
  type TurnTrace,
} from '@goondan/cli/studio';

interface BandOfAny {
  /** The band's path in the onion, such as `0.2.1`. It is stable for the same turn. */
  readonly id: string;
  readonly kind: MiddlewareKind;
  readonly title: string;
  /** The time from the start of the outermost turn to the start of this band. */
  readonly startMs: number;
  readonly totalMs: number;
  /** True if it failed with the error of a band inside it. */
  readonly passedOn: boolean;
  readonly inside: readonly Band[];
}

export interface SpanBand extends BandOfAny {
  readonly type: 'chain';
  readonly chain: ChainRecord;
  /** The id of the turn that the chain belongs to. */
  readonly turnId: string;
  /** The turn; present only on the band of a turn. */
  readonly turn?: TurnTrace;
}

export type Band = SpanBand | (BandOfAny & { readonly type: 'layer'; readonly layer: LayerRecord });

export function bandsOf(turn: TurnTrace): SpanBand {
  return turnBand(turn, '0', 0);
}

/** `offsetMs` is the start of this turn, counted from the start of the outermost turn. */
function turnBand(turn: TurnTrace, id: string, offsetMs: number): SpanBand {
  const { turnId, startedAt } = turn;
  return { ...spanBand(turn.chain, id, { turnId, offsetMs, turnStart: Date.parse(startedAt) }), turn };
}

/** The turn of a chain. */
interface InTurn {
  readonly turnId: string;
  /** The start of the turn, counted from the start of the outermost turn. */
  readonly offsetMs: number;
  readonly turnStart: number;
}

/** A model call has the name of the model that was called, and of the one that was asked for if a layer chose another. */
function chainTitle({ kind, label, request }: ChainRecord): string {
  // People count from 1.
  if (kind === 'step') return `step ${Number(label) + 1}`;
  const isOther = kind === 'model' && request !== undefined && request.modelRef !== label;
  return isOther ? `${request.modelRef} instead of ${label}` : label;
}

function spanBand(chain: ChainRecord, id: string, inTurn: InTurn): SpanBand {
  return {
    type: 'chain',
    id,
    kind: chain.kind,
    title: chainTitle(chain),
    startMs: inTurn.offsetMs + chain.startMs,
    totalMs: chain.totalMs,
    passedOn: hasPassedOn(chain),
    inside: layerBands(chain.layers, chain, id, inTurn),
    chain,
    turnId: inTurn.turnId,
  };
}

function layerBands(
  [outermost, ...inner]: readonly LayerRecord[],
  chain: ChainRecord,
  id: string,
  inTurn: InTurn,
): readonly Band[] {
  if (outermost === undefined) return coreBands(chain, id, inTurn);
  const own = `${id}.0`;
  return [
    {
      type: 'layer',
      id: own,
      kind: chain.kind,
      title: titleOf(outermost),
      startMs: inTurn.offsetMs + outermost.startMs,
      totalMs: outermost.totalMs,
      passedOn: hasPassedOn(chain, outermost),
      inside: layerBands(inner, chain, own, inTurn),
      layer: outermost,
    },
  ];
}

/** Lists what ran inside a chain: other chains, and turns of called agents, in the order in which they started. */
function coreBands(chain: ChainRecord, id: string, inTurn: InTurn): readonly Band[] {
  const { offsetMs, turnStart } = inTurn;
  const started = [
    ...chain.inside.map((child) => ({ at: child.startMs, child })),
    ...chain.called.map((turn) => ({ at: Date.parse(turn.startedAt) - turnStart, turn })),
  ].toSorted((one, other) => one.at - other.at);
  return started.map((each, index) =>
    'turn' in each
      ? turnBand(each.turn, `${id}.${index}`, offsetMs + Math.max(0, each.at))
      : spanBand(each.child, `${id}.${index}`, inTurn),
  );
}

function titleOf({ extension, name, kind }: LayerRecord): string {
  return name === kind ? extension : `${extension} · ${name}`;
}

/**
 * Lists a band and all bands inside it, in the order in which the arrow keys reach them: from the outside in, and from
 * top to bottom.
 */
export function listBands(band: Band): readonly Band[] {
  return [band, ...band.inside.flatMap(listBands)];
}

/** Counts the changes that a layer made: to its input, to the messages, and to its result. */
export function countChanges({ changed, emitted, emittedMore, resultChanged }: LayerRecord): number {
  return changed.length + emitted.length + emittedMore + resultChanged.length;
}
