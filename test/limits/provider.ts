/** A local server in the wire format of OpenAI that counts its requests, and answers when the test lets it. */
import type { JsonObject } from '@goondan/types';

export interface CountedRequest {
  /** The agent, which its system prompt names. */
  readonly agent: string;
  /** The newest text of the user. */
  readonly input: string;
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
  /** The time until an answer. */
  readonly delayMs?: number;
  readonly usage?: { readonly input: number; readonly output: number };
  /** True if the server answers from the beginning. */
  readonly isOpen?: boolean;
}

export function startProvider({ delayMs = 0, usage, isOpen = true }: ProviderOptions = {}): CountingProvider {
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
      const { messages } = (await request.json()) as { messages: { role: string; content: string }[] };
      const agent = messages.find(({ role }) => role === 'system')?.content ?? '';
      const input = messages.findLast(({ role }) => role === 'user')?.content ?? '';
      requests.push({ agent, input, at: performance.now() });
      open += 1;
      mostOpen = Math.max(mostOpen, open);
      try {
        await opened.promise;
        if (delayMs > 0) await Bun.sleep(delayMs);
        tokens += given + output;
        return Response.json(bodyOf(`heard ${input}`, given, output));
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

function bodyOf(content: string, input: number, output: number): JsonObject {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model: 'counted',
    choices: [{ index: 0, message: { role: 'assistant', content }, finish_reason: 'stop' }],
    usage: { prompt_tokens: input, completion_tokens: output, total_tokens: input + output },
  };
}

/** Returns the most requests in any time of this length. */
export function mostWithin(requests: readonly CountedRequest[], ms: number): number {
  return Math.max(0, ...requests.map(({ at }) => requests.filter((each) => each.at >= at && each.at < at + ms).length));
}
