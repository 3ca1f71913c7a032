// Tests `gdn mcp` with real servers.
import { beforeEach, describe, expect, test } from 'bun:test';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { openPlace, outputOf, refusal } from '../testing/open-place.ts';
import { runCaptured } from '../testing/run-captured.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import { until } from '../../../../test/until.ts';

const place = openPlace();
let folder: string;
beforeEach(async () => {
  folder = await place.write('bundle', { 'goondan.yaml': sampleBundle() });
});

const mcp = (command: string, ...args: string[]) => {
  const at = args.indexOf('--');
  const [before, after] = at === -1 ? [args, []] : [args.slice(0, at), args.slice(at)];
  return place.run('mcp', command, ...before, '--bundle', 'bundle', ...after);
};
const file = () => Bun.file(join(folder, '.mcp.json')).json();
const using = (extension: string) => sampleBundle({ agent: `extensions: [${extension}]` });

describe('gdn mcp add', () => {
  test('writes the server, starts nothing, and prints the declaration to add', async () => {
    const mark = join(place.folder, 'started');
    const stdout = outputOf(await mcp('add', 'files', '--env', 'TOKEN', '--env', 'A=b=c', '--', 'touch', mark));
    expect(stdout).toBe(
      `Added "files" to ${join(folder, '.mcp.json')}: touch ${mark}

Nothing in the bundle uses it yet. Give it to an agent, in its \`extensions\`:

  - ref: Extension/mcp
    as: files

An agent sees only what it declares. In its \`environment\`:

  TOKEN: { valueFrom: { env: TOKEN } }
`,
    );
    expect(await file()).toEqual({
      mcpServers: { files: { command: 'touch', args: [mark], env: { TOKEN: '${TOKEN}', A: 'b=c' } } },
    });
    expect(existsSync(mark)).toBe(false);
  });

  test('the printed declaration is valid', async () => {
    const item = '{ ref: Extension/mcp, as: files }';
    await place.write('bundle', { 'goondan.yaml': using(item) });
    expect((await place.run('validate', 'bundle')).exitCode).toBe(0);
    const { stdout } = await mcp('add', 'files', '--', 'server');
    expect(stdout).toBe(`Added "files" to ${join(folder, '.mcp.json')}: server\n`);
  });

  test('names the package if the bundle has its own Extension/mcp, which is not a user of the server', async () => {
    const own = 'apiVersion: goondan.ai/v1\nkind: Extension\nmetadata: { name: mcp }\nspec: { entry: ./own.ts }\n';
    await place.write('bundle', {
      'goondan.yaml': using('{ ref: Extension/mcp, as: files }'),
      'own.yaml': own,
      'own.ts': 'export function register() {}\n',
    });
    const { stdout } = await mcp('add', 'files', '--', 'server');
    expect(stdout).toContain(`\n  - ref: { kind: Extension, name: mcp, package: '@goondan/base' }\n    as: files\n`);
  });

  test('B-06 keeps existing servers, and replaces one only with --force', async () => {
    const before = { other: 1, mcpServers: { old: { command: 'x', disabled: true } } };
    await place.write('bundle', { '.mcp.json': JSON.stringify(before) });
    await mcp('add', 'new', '--url', 'https://mcp.example.com/mcp', '--header', 'Authorization=Bearer ${TOKEN}');
    const both = {
      other: 1,
      mcpServers: {
        old: { command: 'x', disabled: true },
        new: {
          type: 'http',
          url: 'https://mcp.example.com/mcp',
          headers: { Authorization: 'Bearer ${TOKEN}' },
        },
      },
    };
    expect(await file()).toEqual(both);

    expect(await mcp('add', 'new', '--', 'another')).toEqual(refusal(3, 'E_MCP_EXISTS: '));
    expect(await file()).toEqual(both);
    expect((await mcp('add', 'new', '--force', '--', 'another')).exitCode).toBe(0);
    expect(await file()).toMatchObject({ mcpServers: { new: { command: 'another' } } });
  });

  test('--json', async () => {
    const { stdout } = await mcp('add', 'files', '--json', '--', 'npx', '-y', 'server', '${KEY}');
    expect(JSON.parse(stdout)).toEqual({
      name: 'files',
      file: join(folder, '.mcp.json'),
      entry: { command: 'npx', args: ['-y', 'server', '${KEY}'] },
      needs: ['KEY'],
      usedBy: [],
    });
  });

  test('wrong use: exit 2, a suggestion, and nothing written', async () => {
    expect(await mcp('add', 'files')).toEqual({
      stdout: '',
      stderr:
        'E_USAGE: Give the command that starts the server, or its address with --url.\nFor example: gdn mcp add files -- npx -y some-server\n',
      exitCode: 2,
    });
    expect(existsSync(join(folder, '.mcp.json'))).toBe(false);
    // Without `--`, options for the server are refused.
    expect((await mcp('add', 'files', 'npx', '-y', 'server')).exitCode).toBe(2);
  });

  test('a file that cannot be read stays unchanged: exit 3', async () => {
    await place.write('bundle', { '.mcp.json': '{ "mcpServers": ' });
    expect(await mcp('add', 'files', '--', 'x')).toEqual(refusal(3, 'E_MCP_FILE: '));
    expect(await Bun.file(join(folder, '.mcp.json')).text()).toBe('{ "mcpServers": ');
  });
});

describe('gdn mcp list and remove', () => {
  const servers = {
    notes: { command: 'node', args: ['server.mjs'], env: { TOKEN: 'written-down', KEY: '${KEY}' } },
    web: { type: 'http', url: 'https://a.example/mcp', headers: { authorization: 'written-down' } },
    broken: { args: [] },
  };
  beforeEach(() =>
    place.write('bundle', {
      'goondan.yaml': using(`{ ref: { kind: Extension, name: mcp, package: '@goondan/base' }, as: notes }`),
      '.mcp.json': JSON.stringify({ mcpServers: servers }),
    }),
  );

  test('shows each server with its users, and no value that may be a secret', async () => {
    const { stdout } = await mcp('list');
    expect(stdout).toBe(
      `notes  node server.mjs  (used by Agent/host)
web  https://a.example/mcp  (used by nobody)
broken  ${join(folder, '.mcp.json')} cannot be used: mcpServers.broken.command is missing.  (used by nobody)
`,
    );
    const json = (await mcp('list', '--json')).stdout;
    expect(json).not.toContain('written-down');
    expect(JSON.parse(json)).toMatchObject([
      { name: 'notes', type: 'stdio', declares: ['TOKEN', 'KEY'], needs: ['KEY'], usedBy: ['Agent/host'] },
      { name: 'web', type: 'http', declares: ['authorization'], usedBy: [] },
      { name: 'broken', problem: expect.any(String) },
    ]);
  });

  test('removes one, and names its remaining users', async () => {
    const { stdout, exitCode } = await mcp('remove', 'notes');
    expect(stdout).toBe(
      `Removed "notes" from ${join(folder, '.mcp.json')}.\nStill in the extensions of: Agent/host.\n`,
    );
    expect(exitCode).toBe(0);
    expect(Object.keys((await file()).mcpServers)).toEqual(['web', 'broken']);
    expect(await mcp('remove', 'notes')).toEqual(refusal(3, `E_MCP_UNKNOWN: There is no server "notes"`));
  });

  test('without a file there are no servers', async () => {
    await place.write('empty', { 'goondan.yaml': sampleBundle() });
    const { stdout, exitCode } = await place.run('mcp', 'list', '--bundle', 'empty');
    expect({ stdout, exitCode }).toEqual({
      stdout: 'There are no MCP servers. Add one with `gdn mcp add`.\n',
      exitCode: 0,
    });
  });
});

describe('gdn mcp approve', () => {
  test('without a conversation nothing waits; a tool that does not wait is not approved', async () => {
    expect((await mcp('approve', 'files')).stdout).toBe('No tool of "files" waits for approval.\n');
    expect(await mcp('approve', 'files', 'look')).toEqual(
      refusal(3, 'E_MCP_UNKNOWN: No tool "look" of "files" waits for approval. Waiting: none.'),
    );
    expect(existsSync(join(folder, '.mcp.lock.json'))).toBe(false);
  });

  test('N-04 an agent can list the tools, and approve none', async () => {
    const asAgent = (...tools: string[]) =>
      place.runProcessWith(
        { env: { GOONDAN_RUN: 'run-1' } },
        'mcp',
        'approve',
        'files',
        ...tools,
        '--bundle',
        'bundle',
      );
    expect(await asAgent()).toMatchObject({ exitCode: 0 });
    for (const tools of ['look', '--all']) {
      expect(await asAgent(tools)).toMatchObject({
        exitCode: 3,
        stderr: expect.stringContaining('E_APPROVAL_BELOW_AGENT: `gdn mcp approve` was started by an agent.'),
      });
    }
  });
});

describe('gdn mcp test', () => {
  const fileServer = join(import.meta.dir, '../../../base/src/extensions/mcp/testing/file-server.ts');
  const item = (config: object = {}) =>
    `{ ref: { kind: Extension, name: mcp, package: '@goondan/base' }, as: notes, config: ${JSON.stringify(config)} }`;
  const declare = (command: readonly string[], config = {}) => {
    const [program, ...args] = command;
    return place.write('bundle', {
      'goondan.yaml': using(item({ fromFile: { server: 'tools' }, ...config })),
      'tools.json': JSON.stringify([
        { name: 'look', description: 'Looks.\nA second line.', inputSchema: { type: 'object' } },
        { name: 'fail', inputSchema: { type: 'object' } },
        { name: 'hang', inputSchema: { type: 'object' } },
      ]),
      '.mcp.json': JSON.stringify({ mcpServers: { tools: { command: program, args } } }),
    });
  };
  const alive = () => [process.execPath, fileServer, join(folder, 'tools.json')];
  /** Runs the command in this process. */
  const run = (...args: string[]) =>
    runCaptured(['mcp', 'test', ...args, '--bundle', folder, '--state-root', place.stateRoot]);

  test('needs trust, connects like its agent, lists tools, and calls one', async () => {
    await declare(alive());
    const untrusted = await run('notes');
    expect(untrusted).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('E_UNTRUSTED: ') });
    const { stdout, exitCode } = await run('notes', '--trust');
    expect(exitCode).toBe(0);
    const [first = '', ...lines] = stdout.split('\n');
    expect(first).toMatch(/^Connected to "notes" in \d+ ms: .*file-server\.ts .*tools\.json \(used by \w+\)$/);
    expect(lines).toEqual(['Tools:', '  notes__look  Looks.', '  notes__fail  ', '  notes__hang  ', '']);

    // The command accepts the server's name from .mcp.json, and the name under which the agent has the tool.
    const called = await run('tools', '--trust', '--json', '--call', 'notes__look', '--args', '{"word":"x"}');
    expect(JSON.parse(called.stdout)).toMatchObject({
      name: 'notes',
      agent: expect.any(String),
      tools: [{ name: 'notes__look', tool: 'look' }, {}, {}],
      call: { tool: 'look', output: expect.stringMatching(/^look \d+ \{"word":"x"\}$/) },
    });
  });

  test('names the problem: exit 1 for the server and its tool, 2 for the command line, 3 for a name', async () => {
    await declare(alive(), { timeouts: { callMs: 300 } });
    expect(await run('notes', '--trust', '--call', 'fail')).toEqual(refusal(1, 'E_MCP_TOOL: it did not work'));
    expect(await run('notes', '--trust', '--call', 'hang')).toEqual(refusal(1, 'E_MCP_TIMEOUT: '));
    expect(await run('notes', '--trust', '--call', 'gone')).toEqual(refusal(3, /^E_MCP_UNKNOWN: .*look, fail, hang/));
    expect(await run('notes', '--trust', '--call', 'look', '--args', '[]')).toEqual(refusal(2, 'E_USAGE: '));
    expect(await run('notes', '--trust', '--args', '{}')).toMatchObject({ exitCode: 2 });
    expect(await run('nobody', '--trust')).toEqual(refusal(3, /^E_MCP_UNKNOWN: .*notes, tools/));

    await declare([process.execPath, '-e', 'console.error("no such database"); process.exit(3)']);
    const dead = await run('notes', '--trust', '--json');
    expect(dead).toMatchObject({ exitCode: 1, stdout: '' });
    expect(JSON.parse(dead.stderr)).toMatchObject({
      error: { code: 'E_MCP_CONNECT', message: expect.stringContaining('no such database') },
    });
  });

  test('N-01 a login says why nobody can sign in: the server of another machine has no TLS', async () => {
    const transport = { type: 'http', url: 'http://a.example/mcp' };
    await place.write('bundle', { 'goondan.yaml': using(item({ transport })) });
    const login = ['mcp', 'login', 'notes', '--trust', '--bundle', folder, '--state-root', place.stateRoot];
    expect(await runCaptured(login)).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining('its url begins with http:, and tokens would travel in clear text'),
    });
  });

  test('`gdn explain` knows the tools that a test saw, before the first start of the agent', async () => {
    await declare(alive());
    const explain = (...args: string[]) => runCaptured(['explain', folder, '--state-root', place.stateRoot, ...args]);
    expect((await explain()).stdout).toContain('Tools:      notes: tools unknown: `gdn mcp test notes`\n');
    expect((await run('tools', '--trust')).exitCode).toBe(0);
    const listed = /^Tools: {6}notes__look, notes__fail, notes__hang \(notes, seen \d{4}-\S+\)$/m;
    const explained = await explain();
    expect(explained.stdout).toMatch(listed);
    expect(explained.stderr).toContain('It has not been started yet');
    expect(JSON.parse((await explain('--json')).stdout)).toMatchObject({ source: 'declared', layers: null });

    const loaded = await explain('--load', '--trust');
    expect(loaded.stdout).toMatch(listed);
    expect(loaded.stdout).toContain('notes/connect');

    // Changes the tools for the next test.
    await place.write('bundle', { 'tools.json': '[{ "name": "look", "inputSchema": { "type": "object" } }]' });
    expect((await run('notes', '--trust')).exitCode).toBe(0);
    expect((await explain()).stdout).toMatch(/^Tools: {6}notes__look \(notes, seen /m);
  });

  test('suggests what to do about a mistyped tool, and about a server that does not start', async () => {
    await declare(alive());
    const mistyped = await run('notes', '--trust', '--call', 'lookk');
    expect(mistyped.stderr).toStartWith(
      'E_MCP_UNKNOWN: MCP server "notes" has no tool "lookk". Did you mean "look"?\n`gdn mcp test notes --bundle ',
    );

    const advice = 'Check its command, arguments and environment (over HTTP its url and headers) in `.mcp.json`.';
    await declare(['no-such-command-xyz']);
    const missing = await run('notes', '--trust');
    expect(missing.exitCode).toBe(1);
    expect(missing.stderr).toBe(
      'E_MCP_CONNECT: MCP server "notes" cannot be reached: ' +
        `Executable not found in $PATH: "no-such-command-xyz".\n${advice}\n`,
    );
    await declare(['sh', '-c', 'echo no database >&2; exit 3']);
    const dead = await run('notes', '--trust');
    expect(dead.stderr).toEndWith(` Its process ended with code 3. It said: no database\n${advice}\n`);
  });

  test('Ctrl-C ends a server that does not answer: exit 130, and nothing is left', async () => {
    const mark = join(folder, 'started');
    const silent = `await Bun.write(${JSON.stringify(mark)}, ''); setInterval(() => undefined, 1000);`;
    await declare([process.execPath, '-e', silent]);
    const child = place.start('mcp', 'test', 'notes', '--bundle', 'bundle', '--trust');
    await until(() => existsSync(mark));
    child.kill('SIGINT');
    expect(await child.exited).toBe(130);
    expect(await new Response(child.stderr).text()).toMatch(/^E_CANCELLED: .*\nRun the command again to retry\.\n$/);
    expect(place.processes()).toEqual([]);
  });
});
