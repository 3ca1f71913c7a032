import { GoondanError, type JsonValue } from '@goondan/types';
import { readWhole } from '../file-system/read-whole.ts';
import { walk } from '../file-system/walk.ts';
import type { QueryConfig } from './query-config.ts';

export interface JsonSource {
  readonly data?: JsonValue | undefined;
  readonly file?: string | undefined;
}

/** Returns the value of `data`, or of the file. */
export function readJson({ data, file }: JsonSource, config: QueryConfig): JsonValue {
  if ((data === undefined) === (file === undefined)) {
    throw new GoondanError('E_QUERY_DATA', 'A query is about either data or a file: give one of them.');
  }
  if (file !== undefined) {
    using walked = walk(config.root, file);
    return parse(readWhole(walked, file, config.inputLimit), JSON.stringify(walked.path));
  }
  const bytes = Buffer.byteLength(typeof data === 'string' ? data : JSON.stringify(data ?? null));
  if (bytes <= config.inputLimit) return typeof data === 'string' ? parse(data, 'data') : (data ?? null);
  throw new GoondanError('E_QUERY_LIMIT', `data has ${bytes} bytes; at most ${config.inputLimit} can be queried.`);
}

function parse(text: string, what: string): JsonValue {
  try {
    // A byte order mark is not JSON, but programs write it. The cast is safe: JSON.parse returns nothing else.
    return JSON.parse(text.replace(/^\uFEFF/, '')) as JsonValue;
  } catch (error) {
    const problem = error instanceof Error ? error.message.replace('JSON Parse error: ', '') : String(error);
    throw new GoondanError('E_QUERY_DATA', `${what} is not JSON: ${problem}.`, { cause: error });
  }
}
