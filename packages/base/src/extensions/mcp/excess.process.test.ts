// Tests servers that send too much, or nest too deep, over both transports.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';
import type { McpClient } from './mcp-client.ts';
import { McpFailure, toError } from './mcp-failure.ts';
import { describeFailure, readFailure } from './kept-failure.ts';
import type { ServerTarget } from './server-target.ts';
import { openQuietClient } from './testing/quiet-client.ts';

const temporary = temporaryFolder();

/**
 * Returns the text of the answer to a request. `bad`, and the name of a tool: `long`, or `deep` with a number of levels. The
 * server over stdio gets the text of this function.
 */
function answerTo({ id, method, params = {} }: Ask, bad: string): string {
  const reply = (result: object) => JSON.stringify({ jsonrpc: '2.0', id, result });
  const nested = (levels: number) => '['.repeat(levels) + ']'.repeat(levels);
  const spoil = (kind: string, text: string) =>
    text.replace('"HERE"', () => (kind === 'long' ? `"${'x'.repeat(33 * 2 ** 20)}"` : nested(Number(kind.slice(4)))));
  const { protocolVersion, name = '' } = params;
  const serverInfo = { name: 'server', version: '1' };
  if (method === 'initialize') return reply({ protocolVersion, capabilities: { tools: {} }, serverInfo });
  const tools = [{ name: 'a', inputSchema: { type: 'object', properties: {}, examples: 'HERE' } }];
  if (method === 'tools/list') return spoil(bad, reply({ tools }));
  if (name === 'fine') return reply({ content: [{ type: 'text', text: 'fine' }] });
  return spoil(name, reply({ content: [], structuredContent: { value: 'HERE' } }));
}

interface Ask {
  readonly id?: number;
  readonly method: string;
  readonly params?: { readonly protocolVersion?: string; readonly name?: string };
}

type Transport = 'stdio' | 'json' | 'stream';

let client: McpClient;
let server: Bun.Server<undefined> | undefined;
beforeEach(async () => {
  client = await openQuietClient();
});
afterEach(async () => {
  await client.close();
  await server?.stop(true);
  server = undefined;
});

/** `bad`: what the list of tools has too much of. */
function targetOf(transport: Transport, bad: string): ServerTarget {
  const protocol = 'legacy';
  if (transport === 'stdio') {
    const cwd = mkdtempSync(join(temporary, 'excess-'));
    const loop = `const answer = ${String(answerTo)};
      for await (const line of console) {
        const message = JSON.parse(line);
        if (message.id !== undefined) process.stdout.write(answer(message, ${JSON.stringify(bad)}) + '\\n');
      }`;
    writeFileSync(join(cwd, 'server.js'), loop);
    return { type: 'stdio', command: process.execPath, args: ['server.js'], environment: {}, cwd, protocol };
  }
  server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch(request) {
      if (request.method !== 'POST') return new Response(null, { status: 405 });
      // The cast is safe: the client of the SDK sends only such messages.
      const message = (await request.json()) as Ask;
      if (message.id === undefined) return new Response(null, { status: 202 });
      const text = answerTo(message, bad);
      return transport === 'json'
        ? new Response(text, { headers: { 'content-type': 'application/json' } })
        : new Response(`data: ${text}\n\n`, { headers: { 'content-type': 'text/event-stream' } });
    },
  });
  return { type: 'http', url: `http://127.0.0.1:${server.port}/mcp`, headers: {}, protocol };
}

/** Returns the error that the model and the log get, as it is after its way through a sidecar. */
async function errorOf(work: Promise<unknown>) {
  const failure: unknown = await work.then(
    () => expect.unreachable(),
    (error: unknown) => error,
  );
  const read = readFailure(describeFailure(failure));
  if (!(read instanceof McpFailure)) throw read;
  const { code, message, suggestion } = toError('big', read);
  return { code, message, suggestion };
}

const tooLong = {
  code: 'E_MCP_CALL' as const,
  message: expect.stringMatching(/^MCP server "big": it sent a message of more than 33554432 bytes\./),
  suggestion: expect.stringContaining('Ask the server for less'),
};
const tooDeep = {
  ...tooLong,
  message: expect.stringMatching(/^MCP server "big": it sent a message that nests more than 256 levels\./),
};

describe.each<Transport>(['stdio', 'json', 'stream'])('over %s, an MCP server', (transport) => {
  const connect = (bad = 'deep1') => client.connect(targetOf(transport, bad), { timeoutMs: 20_000 });
  const call = (name: string) => client.callTool(name, {}, { timeoutMs: 20_000 });

  test('B-06 that sends a too long answer, or list of tools, is reported with the bound', async () => {
    await connect();
    expect(await errorOf(call('long'))).toEqual(tooLong);
    await connect('long');
    expect(await errorOf(client.listTools({ timeoutMs: 20_000 }))).toEqual(tooLong);
  }, 60_000);

  test('B-06 that nests too deep is reported with the bound, and stays connected', async () => {
    await connect('deep300');
    expect(await errorOf(client.listTools({ timeoutMs: 20_000 }))).toEqual(tooDeep);
    for (const depth of [300, 10_000]) expect(await errorOf(call(`deep${depth}`))).toEqual(tooDeep);
    expect(await call('fine')).toMatchObject({ content: [{ text: 'fine' }] });
    expect(await call('deep200')).toMatchObject({ structuredContent: {} });
  }, 60_000);

  test('B-06 that nests as deep as nothing can read is reported, too', async () => {
    await connect();
    expect(await errorOf(call('deep5000000'))).toEqual(tooDeep);
  }, 60_000);
});
