/** The tool `http-fetch`: fetches URLs of public hosts, and of other hosts only if the bundle allows them. */
import type { ToolHandler } from '@goondan/types';
import { readFetchConfig } from './fetch-config.ts';
import type { FetchAsk } from './fetch-page.ts';

const request: ToolHandler = async (ctx, input) => {
  const { fetchPage } = await import('./fetch-page.ts');
  const { lookup } = await import('node:dns/promises');
  // The cast is safe: the input was checked against the schemas in tools.yaml.
  return fetchPage(input as unknown as FetchAsk, {
    config: readFetchConfig(ctx.config),
    resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
    signal: ctx.signal,
  });
};

// Both exports use the same handler. The schema of `get` has no method and no body.
export const handlers = { get: request, request };
