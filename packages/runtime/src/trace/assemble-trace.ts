/**
 * Assembles the turns of one trace, each under the span that requested it: turn ⊃ step ⊃ tool call ⊃ turn of another
 * agent.
 */
import { isCancellation } from '@goondan/types';
import type { ChainRecord, TurnTrace } from './turn-trace.ts';

/**
 * Lists the turns that no other turn of the trace requested, oldest first. If `only` is set, lists just the turn with
 * this span id. Pure.
 */
export function assembleTrace(turns: readonly TurnTrace[], only?: string): TurnTrace[] {
  const ordered = turns.toSorted((one, other) => Date.parse(one.startedAt) - Date.parse(other.startedAt));
  const places = findPlaces(ordered);
  const callers = new Map(ordered.map((turn) => [turn, places.get(turn.parentSpanId ?? '')]));
  const children = new Map<ChainRecord, TurnTrace[]>();
  const roots: TurnTrace[] = [];
  for (const turn of ordered) {
    const caller = callers.get(turn);
    if (caller === undefined || isInside(caller.turn, turn, callers)) roots.push(turn);
    else children.set(caller.chain, [...(children.get(caller.chain) ?? []), turn]);
  }
  const hang = (chain: ChainRecord): ChainRecord => ({
    ...chain,
    ...markCancelled(chain),
    layers: chain.layers.map((layer) => ({ ...layer, ...markCancelled(layer) })),
    inside: chain.inside.map(hang),
    called: (children.get(chain) ?? []).map(hangTurn),
  });
  const hangTurn = (turn: TurnTrace): TurnTrace => ({ ...turn, chain: hang(turn.chain) });
  const wanted = only === undefined ? roots : ordered.filter(({ spanId }) => spanId === only);
  return wanted.map(hangTurn);
}

function markCancelled({ error }: { readonly error?: string }): { readonly isCancelled?: true } {
  return isCancellation(error) ? { isCancelled: true } : {};
}

/** Indexes the chains of the turns by span id. */
function findPlaces(turns: readonly TurnTrace[]) {
  const places = new Map<string, { readonly turn: TurnTrace; readonly chain: ChainRecord }>();
  const add = (turn: TurnTrace, chain: ChainRecord): void => {
    places.set(chain.spanId, { turn, chain });
    for (const inside of chain.inside) add(turn, inside);
  };
  for (const turn of turns) {
    add(turn, turn.chain);
    places.set(turn.spanId, { turn, chain: turn.chain });
  }
  return places;
}

/**
 * Returns true if `turn` is `other`, or was requested by it, directly or not. A damaged file can claim that a turn
 * requested itself, and this check prevents such a cycle.
 */
function isInside(
  turn: TurnTrace,
  other: TurnTrace,
  callers: ReadonlyMap<TurnTrace, { readonly turn: TurnTrace } | undefined>,
): boolean {
  const seen = new Set<TurnTrace>();
  for (let at: TurnTrace | undefined = turn; at !== undefined && !seen.has(at); at = callers.get(at)?.turn) {
    if (at === other) return true;
    seen.add(at);
  }
  return false;
}
