/**
 * A server with the wire format of Anthropic that counts the tokens of every reply that it has sent completely, by model. A
 * model named `asks-b-c` first calls these agents, and then answers.
 */
import type { JsonObject, JsonValue, TokenUsage } from '@goondan/types';
import { anthropicWire } from '../../packages/runtime/src/agent/model/providers/wire/anthropic-wire.ts';
import type { WireReply } from '../../packages/runtime/src/agent/model/providers/wire/wire-dialect.ts';
import { NO_USAGE, sumUsage } from '../../packages/runtime/src/ports/token-usage.ts';

export interface CountingServer extends AsyncDisposable {
  readonly url: string;
  /** The number of completed replies, and their tokens, by model. */
  readonly counted: ReadonlyMap<string, { readonly calls: number; readonly usage: TokenUsage }>;
  /** Called before a reply; a test may kill a process here. `gone`: resolves when the client has gone. */
  beforeReply: (model: string, gone: Promise<void>) => Promise<void>;
}

export function startCountingServer(): CountingServer {
  const counted = new Map<string, { readonly calls: number; readonly usage: TokenUsage }>();
  let requests = 0;
  const count = (model: string, usage: TokenUsage) => {
    const before = counted.get(model) ?? { calls: 0, usage: NO_USAGE };
    counted.set(model, { calls: before.calls + 1, usage: sumUsage(before.usage, usage) });
  };
  const server = Bun.serve({
    hostname: '127.0.0.1',
    port: 0,
    idleTimeout: 0,
    async fetch(request) {
      const gone = Promise.withResolvers<void>();
      request.signal.addEventListener('abort', () => gone.resolve());
      // Safe: the runtime sends JSON.
      const body = JSON.parse(await request.text()) as JsonObject & { readonly model: string };
      const { model } = body;
      await started.beforeReply(model, gone.promise);
      const reply = replyTo(model, body['messages'] ?? null, ++requests);
      const events = anthropicWire.events(reply);
      const stream = new ReadableStream<string>({
        start(controller) {
          for (const event of events) controller.enqueue(event);
          controller.close();
          if (!request.signal.aborted) count(model, usageOf(reply));
        },
      });
      return new Response(stream, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  const started: CountingServer = {
    url: server.url.href.replace(/\/$/, ''),
    counted,
    beforeReply: async () => undefined,
    [Symbol.asyncDispose]: () => server.stop(true),
  };
  return started;
}

/** Each reply uses other numbers of tokens, so that a wrong sum is seen. */
function replyTo(model: string, messages: JsonValue, number: number): WireReply {
  const [cached, written] = [(number % 3) * 10, (number % 2) * 5];
  const usage = { input: 100 + 7 * number + cached + written, output: 3 + number, cached, written };
  const [, ...targets] = model.startsWith('asks-') ? model.split('-') : [];
  const hasAsked = JSON.stringify(messages).includes('tool_result');
  if (targets.length === 0 || hasAsked) return { text: [`${model} has answered.`], usage };
  const calls = targets.map((target) => ({
    id: `call_${number}_${target}`,
    name: 'agents__request',
    args: { target, input: 'Help.' },
  }));
  return { calls, usage };
}

function usageOf({ usage: { input, output, cached, written = 0 } }: WireReply): TokenUsage {
  return {
    inputTokens: input,
    outputTokens: output,
    totalTokens: input + output,
    cachedInputTokens: cached,
    cacheWriteTokens: written,
  };
}
