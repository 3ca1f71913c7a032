// Tests real swarms: when an agent process ends for any reason, its servers end with it.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { ExtensionStatusChanged } from '@goondan/types';
import { viewWorkspace } from '../../../../cli/src/studio/api/view-workspace.ts';
import type { StudioHost } from '../../../../cli/src/studio/studio-host.ts';
import { GdnPlace } from '../../../../cli/src/testing/gdn-place.ts';
import { runCaptured } from '../../../../cli/src/testing/run-captured.ts';
import { isAlive, ServerPlace } from './testing/server-place.ts';
import { until } from '../../../../../test/until.ts';

setDefaultTimeout(120_000);

let server: ServerPlace;
let place: GdnPlace;
beforeEach(() => {
  server = new ServerPlace();
  server.setTools('look', 'grandchild', 'environment', 'change');
  place = new GdnPlace();
});
afterEach(async () => {
  await place.run('stop', '--bundle', 'bundle');
  expect(await place.remove()).toEqual([]);
  server[Symbol.dispose]();
});

const bundle = (config: string, more = '') => `apiVersion: goondan.ai/v1
kind: Model
metadata: { name: main }
spec:
  provider: scripted
  model: scripted
  options:
    script:
      - { when: look, call: { tool: files__look, args: {} } }
      - { when: grandchild, call: { tool: files__grandchild, args: {} } }
      - { when: environment, call: { tool: files__environment, args: {} } }
      - { when: change, call: { tool: files__change, args: {} } }
      - { afterTool: files__environment, say: '{{result.TOKEN}}, {{result.OTHER}}.' }
      - { say: '{{result}}' }
---
apiVersion: goondan.ai/v1
kind: Agent
metadata: { name: host }
spec:
  modelConfig: { modelRef: Model/main }
  ${more}
  extensions:
    - ref: { kind: Extension, name: mcp, package: '@goondan/base' }
      as: files
      config: ${config}
---
apiVersion: goondan.ai/v1
kind: Swarm
metadata: { name: default }
spec: { entryAgent: Agent/host, agents: [Agent/host], policy: { spares: 0 } }
`;

async function send(input: string): Promise<string> {
  const args = ['send', '--bundle', 'bundle', '--agent', 'host', '--input', input, '--wait', '--json'];
  const { stdout, stderr } = await place.run(...args);
  expect(stderr).toBe('');
  return (JSON.parse(stdout) as { response: string }).response;
}

const look = async () => Number(/^look (\d+)/.exec(await send('look'))?.[1]);

async function agentProcess(): Promise<number> {
  const { stdout } = await place.run('status', '--bundle', 'bundle', '--json');
  const { agents } = JSON.parse(stdout) as { agents: { pid: number }[] };
  return agents[0]?.pid ?? 0;
}

describe('the server of an agent in its own process', () => {
  // One swarm for the whole life of a server, because its processes are what this test costs.
  test('B-06 ends with the agent: killed, restarted, stopped; a reload without changes keeps it, and gdn mcp approve allows a changed tool', async () => {
    const yaml = bundle(JSON.stringify({ transport: server.transport }));
    await place.write('bundle', { 'goondan.yaml': yaml });
    await place.serve('bundle');

    const first = await look();
    const grandchild = Number(await send('grandchild'));
    expect([isAlive(first), isAlive(grandchild)]).toEqual([true, true]);
    process.kill(await agentProcess(), 'SIGKILL');
    await until(() => !isAlive(first) && !isAlive(grandchild), { within: 30_000 });

    const second = await look();
    expect(second).not.toBe(first);
    await place.run('restart', '--bundle', 'bundle');
    await until(() => !isAlive(second), { within: 30_000 });

    const third = await look();
    await place.write('bundle', { 'goondan.yaml': `# Nothing but a comment.\n${yaml}` });
    expect((await place.run('reload', '--bundle', 'bundle')).exitCode).toBe(0);
    expect(await look()).toBe(third);

    server.setTools('change', { name: 'look', description: 'Now with keys.', inputSchema: { type: 'object' } });
    await send('change');
    expect(await send('look')).toContain('E_TOOL_NOT_OFFERED');
    const shown = await place.run('mcp', 'approve', 'files', '--bundle', 'bundle');
    expect(shown.stdout).toStartWith('look  (changed)\n    Now with keys.\n');
    expect(await send('look')).toContain('E_TOOL_NOT_OFFERED');
    expect((await place.run('mcp', 'approve', 'files', 'look', '--bundle', 'bundle')).exitCode).toBe(0);
    expect(await look()).toBe(third);
    expect((await place.run('mcp', 'approve', 'files', '--bundle', 'bundle')).stdout).toBe(
      'No tool of "files" waits for approval.\n',
    );

    expect(isAlive(third)).toBe(true);
    await place.run('stop', '--bundle', 'bundle');
    await until(() => !isAlive(third), { within: 30_000 });
  });
});

describe('the status of a server', () => {
  /** Runs the command in this process, because the command only reads. */
  const read = async (command: string, ...args: string[]) => {
    const where = ['--bundle', join(place.folder, 'bundle'), '--state-root', place.stateRoot];
    return (await runCaptured([...command.split(' '), ...where, ...args])).stdout;
  };
  const status = () => read('status');
  const extensions = async () => {
    const { agents } = JSON.parse(await read('status', '--json')) as {
      agents: { extensions?: ExtensionStatusChanged[] }[];
    };
    return agents[0]?.extensions;
  };
  const explain = () => read('explain');
  const trace = () => read('trace last');
  /** Returns Studio's view of the workspace. */
  const view = async () => {
    const [workspaceId = ''] = readdirSync(join(place.stateRoot, 'workspaces'));
    const nobody = { warn: () => undefined } as unknown as StudioHost;
    return viewWorkspace(nobody, { stateRoot: place.stateRoot, workspaceId });
  };
  const writeServer = (command: readonly string[]) => {
    const [program, ...args] = command;
    const entry = { command: program, args, env: { TOKEN: '${TOKEN}' } };
    return place.write('bundle', { '.mcp.json': JSON.stringify({ mcpServers: { files: entry } }) });
  };

  test('dead, alive, killed and back: status, trace, Studio and explain show it; its environment is the declared one', async () => {
    const dead = 'console.error(`first line`); console.error(`bad token ${process.env.TOKEN}`); process.exit(3);';
    await place.write('bundle', {
      'goondan.yaml': bundle('{}', 'environment: { TOKEN: { valueFrom: { env: TOKEN } } }'),
    });
    await writeServer([process.execPath, '-e', dead]);
    // No server has started yet, and `explain` starts none.
    expect(await explain()).toContain('Tools:      files: tools unknown: `gdn mcp test files`\n');

    const env = { TOKEN: 'canary-4711-canary', OTHER: 'never-declared' };
    const { exitCode } = await place.runWith({ env }, 'run', 'bundle', '--trust', '--detach');
    expect(exitCode).toBe(0);
    expect(await send('hi')).toBe('');
    const failed = await status();
    expect(failed).toMatch(/^ {4}files: failed since \S+: .*\(E_MCP_CONNECT\)$/m);
    expect(failed).toContain('bad token ***');
    expect(await extensions()).toMatchObject([
      { extension: 'files', state: 'failed', lines: ['first line', 'bad token ***'] },
    ]);
    // The trace is written after the answer.
    await until(async () => /│ ✗ files: failed since /.test(await trace()));
    const seen = await view();
    expect(seen.conversations[0]?.extensions).toMatchObject([{ extension: 'files', state: 'failed' }]);
    expect(seen.agents[0]?.unknownTools).toMatchObject([{ extension: 'files' }]);
    expect(await explain()).toContain('Tools:      files: tools unknown: `gdn mcp test files`\n');

    const [program, script] = server.transport.command as [string, string];
    await writeServer([program, script, ...(server.transport.args as string[])]);
    const first = await look();
    await until(async () => (await extensions())?.[0]?.state === 'connected');
    expect(await status()).toMatch(/^ {4}files: connected since \S+, 4 tools$/m);
    await until(async () => /│ ⇄ files: connected since \S+, 4 tools/.test(await trace()));

    // The server gets only the first variable; its value is masked in the answer.
    expect(await send('environment')).toBe('***, .');

    process.kill(first, 'SIGKILL');
    const back = await until(async () => {
      const [files] = (await extensions()) ?? [];
      return files?.state === 'connected' && files.lost === 1 ? files : undefined;
    });
    expect(back.problem).toContain('SIGKILL ended it.');
    expect(await status()).toContain('lost 1 time, the last time because');

    const names = 'files__look, files__grandchild, files__environment, files__change';
    const listed = new RegExp(`^Tools: {6}${names} \\(files, seen \\d{4}-\\S+\\)$`, 'm');
    expect(await explain()).toMatch(listed);
    const [agent] = (await view()).agents;
    expect(agent?.tools).toEqual(names.split(', '));
    expect(agent?.toolSources[0]).toMatchObject({ name: 'files__look', from: 'Extension/files' });

    // `explain` shows the tools that were seen last: first while a new process has not connected yet, then without a
    // process.
    await place.run('restart', '--bundle', 'bundle');
    expect(await explain()).toMatch(listed);
    await place.run('stop', '--bundle', 'bundle');
    expect(await explain()).toMatch(listed);
    const loaded = await place.runWith({ env }, 'explain', 'bundle', '--load', '--trust', '--json');
    expect(JSON.parse(loaded.stdout)).toMatchObject({
      source: 'loaded',
      tools: names.split(', '),
      toolSources: [{ name: 'files__look', from: 'Extension/files', seenAt: expect.any(String) }, {}, {}, {}],
      unknownTools: [],
    });
    const log = await read('logs');
    expect(log).toContain('mcp.starting');
    const everything = [await explain(), await trace(), log].join();
    expect(everything).not.toContain('canary-4711');
  });
});
