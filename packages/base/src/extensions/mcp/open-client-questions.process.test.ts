// Questions of servers, through the SDK: over stdio and HTTP, in the protocols of 2025 and 2026. The server is a process, or
// answers requests in this process.
import { afterAll, beforeAll, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { join } from 'node:path';
import { createMcpHandler, WebStandardStreamableHTTPServerTransport } from '@modelcontextprotocol/server';
import type { JsonObject } from '@goondan/types';
import type { McpClient } from './mcp-client.ts';
import type { AnswerQuestion, ServerAnswer, ServerQuestion } from './server-question.ts';
import type { ServerTarget } from './server-target.ts';
import { askingServer } from './testing/asking-server.ts';
import { openQuietClient } from './testing/quiet-client.ts';

setDefaultTimeout(30_000);

const closing: (() => Promise<unknown>)[] = [];
afterAll(async () => {
  for (const close of closing.toReversed()) await close();
});

const servers: Record<string, () => Promise<ServerTarget>> = {
  'stdio, 2025': async () => stdio('legacy'),
  'stdio, 2026': async () => stdio('auto'),
  'HTTP, 2025': async () => {
    const transport = new WebStandardStreamableHTTPServerTransport({ sessionIdGenerator: () => crypto.randomUUID() });
    await askingServer().connect(transport);
    return http('legacy', (request) => transport.handleRequest(request));
  },
  'HTTP, 2026': async () => {
    const handler = createMcpHandler(askingServer, { legacy: 'reject' });
    closing.push(() => handler.close());
    return http('auto', (request) => handler.fetch(request));
  },
};

function stdio(protocol: 'legacy' | 'auto'): ServerTarget {
  const args = [join(import.meta.dir, 'testing/asking-server.ts')];
  return { type: 'stdio', command: process.execPath, args, environment: {}, cwd: '.', protocol };
}

function http(protocol: 'legacy' | 'auto', fetch: (request: Request) => Promise<Response>): ServerTarget {
  const site = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch });
  closing.push(() => site.stop(true));
  return { type: 'http', url: `http://127.0.0.1:${site.port}/mcp`, headers: {}, protocol };
}

async function connect(target: ServerTarget) {
  const refused: string[] = [];
  const client = await openQuietClient({ onRefused: (problem) => void refused.push(problem) });
  closing.push(() => client.close());
  await client.connect(target, { timeoutMs: 20_000 });
  return { client, refused };
}

/** Calls a tool. Returns its text, and the questions that were asked meanwhile. */
async function call(client: McpClient, tool: string, args: JsonObject, answer: AnswerQuestion, timeoutMs = 20_000) {
  const asked: ServerQuestion[] = [];
  const onQuestion: AnswerQuestion = (question, signal) => {
    asked.push(question);
    return answer(question, signal);
  };
  const { content } = await client.callTool(tool, args, { timeoutMs, onQuestion });
  const said: unknown = content[0]?.text;
  return { asked, said: typeof said === 'string' ? said : '' };
}

const accept = (content?: JsonObject): ServerAnswer => ({ action: 'accept', ...(content && { content }) });
const form = (message: string) => ({
  mode: 'form',
  message,
  requestedSchema: {
    type: 'object',
    properties: { branch: { type: 'string', title: 'Branch', default: 'main' } },
    required: ['branch'],
  },
});

// One connection serves the tests of a group. The last test cancels a call, after which stdio cannot attribute questions.
describe.each(Object.entries(servers))('%s', (name, start) => {
  // Pages with an id exist only in the protocol of 2025.
  const testOf2025 = name.endsWith('2025') ? test : () => undefined;
  let client: McpClient;
  let refused: string[];
  beforeAll(async () => {
    ({ client, refused } = await connect(await start()));
  });

  test('N-01 a question of the server reaches the call, and its answer the server', async () => {
    const { asked, said } = await call(client, 'ask', { label: 'x' }, async () => accept({ branch: 'dev' }));
    expect(asked).toEqual([form('Which branch for x?')] as ServerQuestion[]);
    expect(JSON.parse(said)).toEqual({ label: 'x', one: { action: 'accept', content: { branch: 'dev' } } });
    // A field that the person left out stays out, although it has a default.
    const { said: without } = await call(client, 'ask', { label: 'x' }, async () => accept({}));
    expect(JSON.parse(without)).toEqual({ label: 'x', one: { action: 'accept', content: {} } });
    for (const action of ['decline', 'cancel'] as const) {
      // The server does not get the reason.
      const { said: answer } = await call(client, 'ask', { label: 'x' }, async () => ({ action, note: 'no' }));
      expect(JSON.parse(answer)).toEqual({ label: 'x', one: { action } });
    }
    const both = await call(client, 'twice', {}, async ({ message }) => accept({ branch: message }));
    expect(both.asked.map(({ message }) => message)).toEqual(['One?', 'Two?']);
    expect(JSON.parse(both.said)).toMatchObject({ one: accept({ branch: 'One?' }), two: accept({ branch: 'Two?' }) });
  });

  test('N-04 questions of calls that are open together reach their own call, or are refused', async () => {
    const answer =
      (label: string): AnswerQuestion =>
      async ({ message }) => {
        // Both calls are open while either is asked.
        await Bun.sleep(100);
        return accept({ branch: `${label}: ${message}` });
      };
    const results = await Promise.allSettled(['x', 'y'].map((label) => call(client, 'ask', { label }, answer(label))));
    if (name === 'stdio, 2025') {
      expect(refused.splice(0)).toContainEqual(expect.stringContaining('while 2 calls were open'));
      return;
    }
    expect(refused).toEqual([]);
    for (const [at, label] of ['x', 'y'].entries()) {
      const { said } = (results[at] as PromiseFulfilledResult<{ said: string }>).value;
      expect(JSON.parse(said).one.content).toEqual({ branch: `${label}: Which branch for ${label}?` });
    }
  });

  test('N-01 sampling and endless questions are refused with a code', async () => {
    if (!name.endsWith('2026')) {
      expect((await call(client, 'rude', {}, async () => accept())).said).toContain('E_MCP_UNSUPPORTED');
      expect(refused).toEqual([expect.stringContaining('sampling/createMessage')]);
      return;
    }
    const sampling = call(client, 'sample', {}, async () => accept());
    expect(sampling).rejects.toMatchObject({ kind: 'unsupported' });
    await sampling.catch(() => undefined);
    let count = 0;
    const forever = call(client, 'forever', {}, async () => {
      count += 1;
      return accept({ branch: 'x' });
    });
    expect(forever).rejects.toMatchObject({ kind: 'question' });
    await forever.catch(() => undefined);
    expect(count).toBe(10);
  });

  testOf2025('N-01 a page needs no other answer once the server reports that it is finished', async () => {
    const { asked, said } = await call(client, 'page', {}, (_, signal) => {
      const answer = Promise.withResolvers<ServerAnswer>();
      signal.addEventListener('abort', () => answer.resolve({ action: 'cancel' }));
      return answer.promise;
    });
    expect(asked).toEqual([{ mode: 'url', message: 'Sign in.', url: 'https://example.com/sign-in' }]);
    expect(JSON.parse(said)).toEqual({ action: 'accept' });
  });

  testOf2025('N-01 a call that needs a page is sent again when the person has opened it', async () => {
    const { asked, said } = await call(client, 'needs-page', {}, async () => accept());
    expect(asked).toEqual([{ mode: 'url', message: 'Connect.', url: 'https://example.com/connect' }]);
    expect(said).toBe('"it worked"');
    const declined = call(client, 'needs-page', {}, async () => ({ action: 'decline', note: 'Not on Friday.' }));
    const message = 'a person declined to open the page that the call needs, and said: Not on Friday.';
    expect(declined).rejects.toMatchObject({ kind: 'declined', message });
    await declined.catch(() => undefined);
  });

  test('the time of a person does not count for the timeout of the call, and a cancel withdraws the question', async () => {
    const { said } = await call(
      client,
      'ask',
      { label: 'x' },
      async () => {
        await Bun.sleep(400);
        return accept({ branch: 'late' });
      },
      300,
    );
    expect(said).toContain('late');
    const cancelling = new AbortController();
    const withdrawn = Promise.withResolvers<void>();
    const onQuestion: AnswerQuestion = (_, signal) => {
      setTimeout(() => cancelling.abort(new Error('cancelled')), 10);
      const answer = Promise.withResolvers<ServerAnswer>();
      signal.addEventListener('abort', () => {
        withdrawn.resolve();
        answer.resolve({ action: 'cancel' });
      });
      return answer.promise;
    };
    const cancelled = client.callTool(
      'ask',
      { label: 'x' },
      { timeoutMs: 9_000, onQuestion, signal: cancelling.signal },
    );
    expect(cancelled).rejects.toThrow('cancelled');
    await withdrawn.promise;
  });
});

/** Serves the tools of 2026, but answers calls with `result`. */
function answering(result: JsonObject): ServerTarget {
  const handler = createMcpHandler(askingServer, { legacy: 'reject' });
  closing.push(() => handler.close());
  return http('auto', async (request) => {
    const { id, method } = (await request.clone().json()) as { id?: unknown; method?: string };
    return method === 'tools/call' ? Response.json({ jsonrpc: '2.0', id, result }) : handler.fetch(request);
  });
}

test('N-01 a server of 2026 that asks for a model call anyway is refused with a code', async () => {
  const one = { method: 'sampling/createMessage', params: { messages: [], maxTokens: 9 } };
  const { client } = await connect(answering({ resultType: 'input_required', inputRequests: { one } }));
  const sampling = call(client, 'sample', {}, async () => accept());
  expect(sampling).rejects.toMatchObject({ kind: 'unsupported', message: expect.stringContaining('sampling') });
  await sampling.catch(() => undefined);
});
