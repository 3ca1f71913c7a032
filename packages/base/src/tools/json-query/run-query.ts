/** Answers one query. The size of the data, the steps of the evaluation and the size of the result are bounded. */
import { GoondanError, type JsonObject, type JsonValue } from '@goondan/types';
import { Budget } from './jmespath/budget.ts';
import { evaluate } from './jmespath/evaluate.ts';
import { keysOf, writeJson } from './jmespath/json-values.ts';
import { parseQuery } from './jmespath/parse-query.ts';
import type { QueryConfig } from './query-config.ts';
import { readJson } from './read-json.ts';

export interface QueryAsk {
  /** An expression of the language JMESPath. */
  readonly query: string;
  /** The value to query; a string is the JSON text of the value. */
  readonly data?: JsonValue;
  /** A JSON file to query instead. */
  readonly file?: string;
}

/** The maximum number of steps of one query: about a second of work. */
const MOST_STEPS = 10_000_000;

export function runQuery({ query, data, file }: QueryAsk, config: QueryConfig): JsonObject {
  const expression = parseQuery(query);
  try {
    const value = readJson({ data, file }, config);
    const result = evaluate(expression, value, new Budget(MOST_STEPS));
    checkSize(result, config.outputLimit);
    return { result };
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new GoondanError('E_QUERY_LIMIT', 'The data is nested too deeply for this query.', { cause: error });
  }
}

function checkSize(result: JsonValue, limit: number): void {
  // Each part of a JSON text costs at most as many steps as it has characters, so a result within the limit passes.
  const text = tryWrite(result, limit);
  if (text !== undefined && text.length <= limit) return;
  const size = text === undefined ? `more than ${limit}` : `${text.length}`;
  throw new GoondanError(
    'E_QUERY_LIMIT',
    `The result${describe(result)} has ${size} characters; at most ${limit} are returned. Ask for less, for example with [0:10], single fields, length(@) or keys(@).`,
  );
}

function tryWrite(result: JsonValue, limit: number): string | undefined {
  try {
    return writeJson(result, new Budget(limit));
  } catch (error) {
    if (GoondanError.is(error)) return undefined;
    throw error;
  }
}

/** Names the shape of a result, so that the next query can ask for a part. */
function describe(result: JsonValue): string {
  if (Array.isArray(result)) return ` is a list of ${result.length} items and`;
  if (typeof result !== 'object' || result === null) return '';
  const keys = keysOf(result, new Budget(Infinity));
  const some = keys.slice(0, 20).map((key) => JSON.stringify(key.slice(0, 50)));
  return ` is an object with ${keys.length} keys (${some.join(', ')}${keys.length > 20 ? ', …' : ''}) and`;
}
