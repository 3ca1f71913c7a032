/** A local server in the wire format of a provider that counts its requests, and answers when the test lets it. */
import type { JsonObject } from '@goondan/types';
import {
  compatibleCase,
  type ProviderCase,
} from '../../packages/runtime/src/agent/model/providers/wire/provider-cases.ts';

export interface CountedRequest {
  /** The agent, which its system prompt names. */
  readonly agent: string;
  /** The time of its arrival in milliseconds. */
  readonly at: number;
}

export interface CountingProvider extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly CountedRequest[];
  /** The most requests that were open at the same time. */
  readonly mostOpen: number;
  /** The input and output tokens of all answers. */
  readonly tokens: number;
  /** Answers all requests from now on, those that wait included. */
  open(): void;
}

export interface ProviderOptions {
  /** The provider whose format the server has; an openai-compatible one when absent. Answers are not streamed. */
  readonly wire?: ProviderCase;
  /** The time until an answer. */
  readonly delayMs?: number;
  readonly usage?: { readonly input: number; readonly output: number };
  /** True if the server answers from the beginning. */
  readonly isOpen?: boolean;
}

export function startProvider(options: ProviderOptions = {}): CountingProvider {
  const { wire = compatibleCase, delayMs = 0, usage, isOpen = true } = options;
  const requests: CountedRequest[] = [];
  const { input: given = 20, output = 5 } = usage ?? {};
  const opened = Promise.withResolvers<void>();
  if (isOpen) opened.resolve();
  let [open, mostOpen, tokens] = [0, 0, 0];
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const [agent] = wire.system((await request.json()) as JsonObject);
      requests.push({ agent: typeof agent === 'string' ? agent : '', at: performance.now() });
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      try {
        await opened.promise;
        if (delayMs > 0) await Bun.sleep(delayMs);
        tokens += given + output;
        return Response.json(wire.dialect.body({ text: ['Heard.'], usage: { input: given, output, cached: 0 } }));
      } finally {
        open -= 1;
      }
    },
  });
  return {
    url: `${server.url.href}v1`,
    requests,
    get mostOpen() {
      return mostOpen;
    },
    get tokens() {
      return tokens;
    },
    open: () => opened.resolve(),
    [Symbol.asyncDispose]: () => server.stop(true),
  };
}

/** Returns the most requests in any time of this length. */
export function mostWithin(requests: readonly CountedRequest[], ms: number): number {
  return Math.max(0, ...requests.map(({ at }) => requests.filter((each) => each.at >= at && each.at < at + ms).length));
}
