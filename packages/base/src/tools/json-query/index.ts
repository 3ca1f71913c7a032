/** The tool `json-query`: answers a JMESPath query about a JSON value or a JSON file. */
import type { ToolHandler } from '@goondan/types';
import { readQueryConfig } from './query-config.ts';
import type { QueryAsk } from './run-query.ts';

const query: ToolHandler = async (ctx, input) => {
  const { runQuery } = await import('./run-query.ts');
  // The cast is safe: the arguments were checked against the schema in tools.yaml.
  return runQuery(input as unknown as QueryAsk, readQueryConfig(ctx));
};

export const handlers = { query };
