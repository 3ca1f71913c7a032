/**
 * A recorded turn without the parts that can be large and that the page asks for later: the parts of model requests, and
 * the replies. Long results of tools are shortened.
 */
import type { ChainRecord, TurnTrace } from '@goondan/runtime/history';
import type { JsonValue } from '@goondan/types';

/** The maximum number of characters of a result, and of the beginning that takes its place. */
const LONGEST_RESULT = 500_000;
const LONGEST_BEGINNING = 20_000;

export function lightenTurn(turn: TurnTrace): TurnTrace {
  return { ...turn, chain: lightenChain(turn.chain) };
}

function lightenChain({ request, reply: _reply, result, ...chain }: ChainRecord): ChainRecord {
  return {
    ...chain,
    ...(request === undefined ? {} : { request: lightenRequest(request) }),
    ...(result === undefined ? {} : { result: shorten(result) }),
    inside: chain.inside.map(lightenChain),
    called: chain.called.map(lightenTurn),
  };
}

function lightenRequest(request: NonNullable<ChainRecord['request']>): NonNullable<ChainRecord['request']> {
  const { parts: _parts, origins: _origins, references: _references, ...rest } = request;
  return rest;
}

function shorten(value: JsonValue): JsonValue {
  const text = JSON.stringify(value);
  if (text.length <= LONGEST_RESULT) return value;
  return `${text.slice(0, LONGEST_BEGINNING).toWellFormed()}… (${text.length} characters)`;
}
