/** The tool `http-fetch`: fetches from public hosts, and from others only if the bundle allows it. */
import type { ToolHandler } from '@goondan/types';
import { readFetchConfig } from './fetch-config.ts';
import type { FetchAsk } from './fetch-page.ts';

const request: ToolHandler = async (ctx, input) => {
  const { fetchPage } = await import('./fetch-page.ts');
  const { lookup } = await import('node:dns/promises');
  // Checked against the schemas in tools.yaml.
  return fetchPage(input as unknown as FetchAsk, {
    config: readFetchConfig(ctx.config),
    resolve: async (host) => (await lookup(host, { all: true })).map(({ address }) => address),
    signal: ctx.signal,
  });
};

// The schema of `get` has neither method nor body.
export const handlers = { get: request, request };
