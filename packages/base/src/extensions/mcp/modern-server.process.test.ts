// Tests a server of protocol version 2026-07-28, which has neither handshake nor sessions. The server of the test uses
// the official SDK.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import { createMcpHandler, fromJsonSchema, McpServer } from '@modelcontextprotocol/server';
import { extension, scriptedAgent, type ScriptedAgent } from '@goondan/runtime/testing';
import { register } from './register.ts';
import { obedientModel } from './testing/obedient-model.ts';
import { ServerPlace } from './testing/server-place.ts';
import { until } from '../../../../../test/until.ts';
import { toolResults } from './testing/watch-calls.ts';

setDefaultTimeout(30_000);

let place: ServerPlace;
let agent: ScriptedAgent;
let tools: string[];
let site: ReturnType<typeof serve> | undefined;
beforeEach(() => {
  place = new ServerPlace();
  tools = ['look'];
});
afterEach(async () => {
  await agent?.close();
  await site?.stop();
  site = undefined;
  place[Symbol.dispose]();
});

/** Serves all tools in `tools`, at a fixed address. `result`: the result of every call, in place of the server's. */
function serve(port = 0, result?: JsonObject) {
  const seen: string[] = [];
  const bodies: string[] = [];
  const handler = createMcpHandler(
    () => {
      const server = new McpServer(
        { name: 'modern', version: '1' },
        { capabilities: { tools: { listChanged: true } } },
      );
      const inputSchema = fromJsonSchema({ type: 'object', properties: {} });
      for (const name of tools) {
        server.registerTool(name, { description: `The tool ${name}.`, inputSchema }, () => ({
          content: [{ type: 'text', text: `${name} was called` }],
        }));
      }
      return server;
    },
    { legacy: 'reject' },
  );
  const server = Bun.serve({
    port,
    hostname: '127.0.0.1',
    idleTimeout: 0,
    async fetch(request) {
      seen.push(request.headers.get('authorization') ?? '');
      const body = await request.clone().text();
      bodies.push(body);
      if (result !== undefined && body.includes('tools/call')) {
        // The cast is safe: the client is ours.
        return Response.json({ jsonrpc: '2.0', id: (JSON.parse(body) as { id: number }).id, result });
      }
      return handler.fetch(request);
    },
  });
  return {
    url: `http://127.0.0.1:${server.port}/mcp`,
    port: server.port ?? 0,
    seen,
    bodies,
    toolsChanged: () => handler.notify.toolsChanged(),
    async stop() {
      await handler.close();
      await server.stop(true);
    },
  };
}

async function start(config: JsonObject): Promise<void> {
  agent = await scriptedAgent({
    bundleFolder: place.folder,
    workdir: place.folder,
    extensions: [extension('server', register, { config })],
    model: obedientModel('server'),
  });
}

async function call(tool: string): Promise<unknown> {
  await agent.say(`${tool} {}`);
  const output = (await toolResults(agent)).at(-1)?.output;
  return output !== undefined && 'value' in output ? output.value : undefined;
}

const offered = () => agent.requests.at(-1)?.tools.map(({ name }) => name);

describe('a server of 2026 over HTTP', () => {
  test('B-06 list, call, list_changed; headers are sent with every request', async () => {
    site = serve();
    await start({ transport: { type: 'http', url: site.url, headers: { authorization: 'Bearer abc' } } });
    expect(await call('look')).toBe('look was called');
    expect(new Set(site.seen)).toEqual(new Set(['Bearer abc']));

    tools = ['look', 'new'];
    site.toolsChanged();
    await until(async () => {
      await agent.say('hello');
      return offered()?.includes('server__new');
    });
    expect(await call('new')).toBe('new was called');
  });

  test('N-01 sampling and roots are refused with a code', async () => {
    for (const method of ['sampling/createMessage', 'roots/list']) {
      const params = method === 'roots/list' ? {} : { messages: [], maxTokens: 1 };
      site = serve(0, { resultType: 'input_required', inputRequests: { it: { method, params } } });
      await start({ transport: { type: 'http', url: site.url } });
      const refused = `MCP server "server": it asked for ${method}, which servers do not get.`;
      expect(await call('look')).toMatchObject({ code: 'E_MCP_UNSUPPORTED', message: refused });
      await agent.close();
      await site.stop();
    }
  });

  test('N-01 a result without a type is complete', async () => {
    site = serve(0, { content: [{ type: 'text', text: 'no type' }] });
    await start({ transport: { type: 'http', url: site.url } });
    expect(await call('look')).toBe('no type');
  });

  test('R-08 a call carries its trace, and other requests do not', async () => {
    site = serve();
    await start({ transport: { type: 'http', url: site.url } });
    expect(await call('look')).toBe('look was called');
    const calls = site.bodies.filter((body) => body.includes('traceparent'));
    expect(calls).toHaveLength(1);
    const traceparent: unknown = expect.stringMatching(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
    expect(JSON.parse(calls[0] ?? '')).toMatchObject({ method: 'tools/call', params: { _meta: { traceparent } } });
  });

  test('stopped and back: changes meanwhile are seen', async () => {
    site = serve();
    const { url, port } = site;
    await start({ transport: { type: 'http', url } });
    await call('look');
    await site.stop();
    expect(await call('look')).toMatchObject({ code: 'E_MCP_CONNECT' });

    tools = ['look', 'new'];
    site = serve(port);
    await until(async () => (await call('look')) === 'look was called');
    await agent.say('hello');
    expect(offered()).toEqual(['server__look', 'server__new']);
  });

  test('protocol: legacy does not reach it, and reports that', async () => {
    site = serve();
    await start({ transport: { type: 'http', url: site.url, protocol: 'legacy' }, required: true });
    const { result } = await agent.say('hello');
    expect(['E_MCP_CALL', 'E_MCP_CONNECT']).toContain(result.error?.code ?? '');
  });
});

describe('protocol: auto over stdio', () => {
  const server = `
    import { McpServer } from '@modelcontextprotocol/server';
    import { serveStdio } from '@modelcontextprotocol/server/stdio';
    serveStdio(() => {
      const server = new McpServer({ name: 'modern', version: '1' });
      server.registerTool('look', { description: 'Looks.' }, () => ({ content: [{ type: 'text', text: 'modern' }] }));
      return server;
    });`;

  test('B-06 supports a server of 2026', async () => {
    place.write('server.ts', server);
    // The server resolves its imports from its own folder, so the folder needs a link to `node_modules`.
    symlinkSync(join(import.meta.dir, '../../../../../node_modules'), join(place.folder, 'node_modules'));
    const transport = { type: 'stdio', command: [process.execPath, 'server.ts'], protocol: 'auto' };
    await start({ transport });
    expect(await call('look')).toBe('modern');
  });

  test('N-01 a server of 2025 that asks for sampling gets an error with the code', async () => {
    place.write(
      'server.mjs',
      `import { createInterface } from 'node:readline';
      const send = (message) => console.log(JSON.stringify({ jsonrpc: '2.0', ...message }));
      let call;
      for await (const line of createInterface({ input: process.stdin })) {
        const { id, method, error } = JSON.parse(line);
        const serverInfo = { name: 'old', version: '1' };
        if (method === 'initialize') send({ id, result: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo } });
        if (method === 'tools/list') send({ id, result: { tools: [{ name: 'look', inputSchema: { type: 'object' } }] } });
        if (method === 'tools/call') {
          call = id;
          send({ id: 'mine', method: 'sampling/createMessage', params: { messages: [], maxTokens: 1 } });
        }
        if (id === 'mine') send({ id: call, result: { content: [{ type: 'text', text: error.code + ' ' + error.message }] } });
      }`,
    );
    await start({ transport: { type: 'stdio', command: [process.execPath, 'server.mjs'] } });
    const refused = 'it asked for sampling/createMessage, which servers do not get. (E_MCP_UNSUPPORTED)';
    expect(await call('look')).toBe(`-32601 ${refused}`);
  });

  test('B-06 and one of 2025', async () => {
    place.setTools('look');
    await start({ transport: { ...place.transport, protocol: 'auto' } });
    expect(await call('look')).toStartWith('look ');
  });
});
