import { describe, expect, test } from 'bun:test';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import { readSettings, type McpConfig } from './mcp-settings.ts';
import { resolveTarget } from './resolve-target.ts';
import { describeTarget } from './server-target.ts';
import { ServerPlace } from './testing/server-place.ts';

const environment = { PATH: '/bin', HOME: '/home/a', LC_ALL: 'C', TOKEN: 'abc', EMPTY: '', GOONDAN_RUN: 'tag' };

function resolve(config: McpConfig, bundleFolder = '/bundle', name = 'files') {
  return resolveTarget(readSettings(config, name), { bundleFolder, workdir: '/work', environment });
}

async function fromFile(servers: JsonObject | string, config: McpConfig = {}) {
  using place = new ServerPlace();
  place.write('.mcp.json', typeof servers === 'string' ? servers : { mcpServers: servers });
  return { target: await resolve(config, place.folder), folder: place.folder };
}

const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'accepted',
    (error: unknown) => error,
  );

describe('the target of a server', () => {
  test('B-06 a process: command, arguments, folder, and its own environment', async () => {
    expect(await resolve({ transport: { type: 'stdio', command: 'npx', args: ['-y'], env: { A: 'b' } } })).toEqual({
      type: 'stdio',
      command: 'npx',
      args: ['-y'],
      environment: { PATH: '/bin', HOME: '/home/a', LC_ALL: 'C', A: 'b', GOONDAN_RUN: 'tag' },
      cwd: '/bundle',
      protocol: 'legacy',
    });
  });

  test('the command may be a list, and is relative to its folder', async () => {
    const transport = { type: 'stdio', command: ['./bin/server', 'a'], args: ['b'], cwd: 'sub' } as const;
    expect(await resolve({ transport })).toMatchObject({
      command: '/bundle/sub/bin/server',
      args: ['a', 'b'],
      cwd: '/bundle/sub',
    });
  });

  test('tags cannot be overridden', async () => {
    const transport = { type: 'stdio', command: 'x', env: { GOONDAN_RUN: 'other' } } as const;
    expect(await resolve({ transport })).toMatchObject({ environment: { GOONDAN_RUN: 'tag' } });
  });

  test('B-06 an address, with headers', async () => {
    const transport = {
      type: 'http',
      url: 'https://a.example/mcp',
      headers: { authorization: 'Bearer ${TOKEN}' },
    } as const;
    expect(await resolve({ transport })).toEqual({
      type: 'http',
      url: 'https://a.example/mcp',
      headers: { authorization: 'Bearer abc' },
      protocol: 'auto',
    });
  });

  test('variables: of the agent, with a default, and the two folders', async () => {
    const args = [
      '${TOKEN}',
      '${EMPTY:-x}',
      '${NONE:-}',
      '${GOONDAN_BUNDLE}',
      '${GOONDAN_WORKDIR}',
      '$TOKEN',
      '$${TOKEN}',
    ];
    expect(await resolve({ transport: { type: 'stdio', command: 'x', args } })).toMatchObject({
      args: ['abc', 'x', '', '/bundle', '/work', '$TOKEN', '$abc'],
    });
  });

  test('variables that are not set are named, all of them at once', async () => {
    const transport = { type: 'stdio', command: 'x', args: ['${ONE}', '${EMPTY}'], env: { A: '${TWO}' } } as const;
    expect(await refusal(resolve({ transport }))).toMatchObject({
      code: 'E_MCP_VARIABLE',
      message: 'The MCP server needs variables that are not set: ONE, EMPTY, TWO.',
    });
  });

  test.each(['file:///etc/passwd', 'nothing'])('%s is not an address', async (url) => {
    expect(await refusal(resolve({ transport: { type: 'http', url } }))).toMatchObject({ code: 'E_MCP_FILE' });
  });

  test('N-01 a server of another machine without TLS gets no sign-in; a declared one is refused with its place', async () => {
    const [clear, own] = ['http://a.example/mcp', 'http://127.0.0.2/mcp'];
    expect(await resolve({ transport: { type: 'http', url: clear } })).not.toHaveProperty('oauth');
    expect(await resolve({ transport: { type: 'http', url: clear, oauth: false } })).not.toHaveProperty('oauth');
    for (const url of [own, 'https://a.example/mcp'])
      expect(await resolve({ transport: { type: 'http', url, oauth: {} } })).toHaveProperty('oauth');
    expect(await refusal(resolve({ transport: { type: 'http', url: clear, oauth: {} } }))).toMatchObject({
      code: 'E_MCP_FILE',
      message: expect.stringContaining('transport.oauth declares a sign-in, but its url begins with http:'),
    });
    const half = { type: 'http' as const, url: own, oauth: { clientSecret: '${TOKEN}' } };
    expect(await refusal(resolve({ transport: half }))).toMatchObject({
      message: 'The MCP server cannot be used: transport.oauth.clientId is missing.',
    });
    const entry = { type: 'http', url: 'http://${TOKEN}.example/mcp', oauth: { clientId: 'x' } };
    expect(await refusal(fromFile({ files: entry }))).toMatchObject({
      code: 'E_MCP_FILE',
      message: expect.stringContaining('.mcp.json: mcpServers.files.oauth declares a sign-in'),
      suggestion: expect.stringContaining('mcpServers.files.url'),
    });
  });

  test('its description has no value that may be a secret', () => {
    const http = {
      type: 'http',
      url: 'https://u:p@a.example/mcp?key=1',
      headers: { a: 'b' },
      protocol: 'auto',
    } as const;
    expect(describeTarget(http)).toBe('https://a.example/mcp');
  });
});

describe('.mcp.json', () => {
  test('has the server by the name of the extension, or another name', async () => {
    const servers = { files: { command: 'a' }, other: { type: 'http', url: 'http://a.example' } };
    expect((await fromFile(servers)).target).toMatchObject({ type: 'stdio', command: 'a' });
    expect((await fromFile(servers, { fromFile: { server: 'other' } })).target).toMatchObject({ type: 'http' });
  });

  test('is that of the bundle; that of the workdir only when configured', async () => {
    using place = new ServerPlace();
    place.write('.mcp.json', { mcpServers: { files: { command: 'a', cwd: 'x' } } });
    const around = { bundleFolder: '/nowhere', workdir: place.folder, environment };
    const ask = (config: McpConfig) => resolveTarget(readSettings(config, 'files'), around);
    expect(await refusal(ask({}))).toMatchObject({ code: 'E_MCP_FILE' });
    expect(await ask({ fromFile: { folder: 'workdir' } })).toMatchObject({ cwd: join(place.folder, 'x') });
  });

  test('keys of other clients are ignored', async () => {
    const { target } = await fromFile({ files: { command: 'a', disabled: false, icon: {} } });
    expect(target).toMatchObject({ command: 'a' });
  });

  test.each([
    ['no file of that name there', {}, 'names no server "files". It has: none.'],
    ['not JSON', '{', 'it is not JSON'],
    ['no object', '[]', 'it is not an object'],
    ['servers in a list', '{"mcpServers": []}', 'mcpServers is not an object'],
    ['no object', { files: 'npx' }, 'mcpServers.files is no object'],
    ['no command', { files: { args: [] } }, 'mcpServers.files.command is missing'],
    ['arguments that are no texts', { files: { command: 'a', args: [1] } }, '.args must be a list of texts'],
    ['variables that are no texts', { files: { command: 'a', env: { A: 1 } } }, '.env must map names to texts'],
    ['no address', { files: { type: 'http' } }, '.url is missing'],
    ['the old transport', { files: { type: 'sse', url: 'http://a' } }, 'use "http"'],
    ['another transport', { files: { type: 'ws', url: 'http://a' } }, '.type must be "stdio" or "http"'],
  ])('is rejected with the problem: %s', async (_what, servers, problem) => {
    expect(await refusal(fromFile(servers))).toMatchObject({
      code: 'E_MCP_FILE',
      message: expect.stringContaining(problem),
    });
  });
});

describe('the config', () => {
  test('transport and fromFile exclude each other', () => {
    expect(() => readSettings({ transport: { type: 'stdio', command: 'a' }, fromFile: {} }, 'files')).toThrow('both');
  });

  test('a name that leaves no room for tool names is rejected', () => {
    expect(() => readSettings({}, 'a'.repeat(41))).toThrow('no room for the names');
  });
});
