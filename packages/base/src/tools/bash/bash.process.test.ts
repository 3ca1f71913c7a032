import { describe, expect, test } from 'bun:test';
import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import { scriptedAgent } from '@goondan/runtime/testing';
import { runningCommands } from '../../process-tree/testing/running-commands.ts';
import { findSandbox } from './find-sandbox.ts';
import { handlers } from './index.ts';
import { until } from '../../../../../test/until.ts';
import { temporaryFolder } from '../../../../../test/temporary-folder.ts';

const workdir = temporaryFolder();
const exports = [{ name: 'exec', description: 'Runs a command.' }];

/** Lets a model call the tool once, and returns the result that the model reads. */
async function call(command: string, config: JsonObject, policy = {}) {
  const agent = await scriptedAgent({
    script: [{ when: 'go', call: { tool: 'bash__exec', args: { command } } }, { say: 'done' }],
    tools: [{ name: 'bash', exports, handlers, config }],
    workdir,
    policy,
  });
  await agent.say('go');
  const { content } = (await agent.messages()).find(({ data }) => data.role === 'tool')?.data ?? {};
  return { read: JSON.stringify(content), logs: agent.logs };
}

describe('bash as a tool of an agent', () => {
  test('runs a command, and reports in the result and once in the log that it is unsandboxed', async () => {
    const first = await call('echo hello', { sandbox: 'off' });
    expect(first.read).toContain(String.raw`"stdout":"hello\n"`);
    expect(first.read).toContain('"notice":"unsandboxed: the bundle has switched the sandbox off"');
    expect(first.logs).toMatchObject([{ level: 'warn', message: expect.stringContaining('bash: unsandboxed: ') }]);
    expect((await call('true', { sandbox: 'off' })).logs).toEqual([]);
  });

  test('R-08 gives a command the trace of its call', async () => {
    const { read } = await call('echo "$TRACEPARENT"', { sandbox: 'off' });
    expect(read).toMatch(/"stdout":"00-[0-9a-f]{32}-[0-9a-f]{16}-01\\n"/);
  });

  test('with sandbox: required, nothing runs without one', async () => {
    const { works } = await findSandbox(false);
    const { read } = await call('touch ran', { sandbox: 'required' });
    if (works) expect(read).toContain('"sandbox":"bubblewrap"');
    else expect(read).toContain('E_COMMAND_SANDBOX');
    expect(readdirSync(workdir)).toEqual(works ? ['ran'] : []);
  });

  test('after the deadline of tools, the command is ended, too', async () => {
    const mark = `8${process.pid}.1`;
    const { read } = await call(`sleep ${mark}`, { sandbox: 'off' }, { toolTimeoutMs: 200 });
    expect(read).toContain('E_TOOL_TIMEOUT');
    await until(() => !isRunning(mark), { about: 'the command has ended' });
  });

  test.each(['process.exit(0)', 'throw new Error("uncaught")'])(
    'when the process ends with %s, its commands and its folder end with it',
    async (ending) => {
      const mark = `9${process.pid}.${ending.length}`;
      const program = `
        import { handlers } from ${JSON.stringify(join(import.meta.dir, 'index.ts'))};
        const ctx = { config: { sandbox: 'off', outputLimit: 200 }, workdir: ${JSON.stringify(workdir)}, logger: console, signal: new AbortController().signal };
        await handlers.exec(ctx, { command: 'seq 1 1000' });
        handlers.exec(ctx, { command: 'setsid sleep ${mark} & sleep ${mark}' }).catch(() => undefined);
        process.stdin.once('data', () => { ${ending} });
      `;
      const temporary = mkdtempSync(join(workdir, 'tmp-'));
      const child = Bun.spawn([process.execPath, '-e', program], {
        env: { ...process.env, TMPDIR: temporary },
        stdin: 'pipe',
        stdout: 'ignore',
        stderr: 'ignore',
      });
      await until(() => countRunning(mark) >= 2, { about: 'both commands run' });
      expect(readdirSync(temporary)).toHaveLength(1);
      await child.stdin.write('go');
      await child.stdin.end();
      await child.exited;
      await until(() => !isRunning(mark), { about: 'the commands have ended' });
      expect(readdirSync(temporary)).toEqual([]);
    },
    30_000,
  );
});

function isRunning(mark: string): boolean {
  return countRunning(mark) > 0;
}

function countRunning(mark: string): number {
  return runningCommands(`sleep ${mark}`).filter((line) => line.startsWith('sleep ')).length;
}
