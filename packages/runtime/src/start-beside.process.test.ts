import { afterEach, describe, expect, test } from 'bun:test';
import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { textOf } from '@goondan/types';
import type { LogLine } from './ports/log-line.ts';
import { startBeside } from './start-beside.ts';
import { temporaryBundle } from './testing/temporary-bundle.ts';

const made: Disposable[] = [];
afterEach(() => {
  for (const each of made.splice(0)) each[Symbol.dispose]();
});

/** Starts a swarm as a Node program does. This also works in Bun, which runs this test. */
async function start(onLog?: (line: LogLine) => void) {
  const bundle = temporaryBundle({
    'goondan.yaml': `apiVersion: goondan.ai/v1
kind: Model
metadata: { name: m }
spec: { provider: scripted, model: m, options: { script: [{ say: 'You said: {{input}}' }] } }
---
apiVersion: goondan.ai/v1
kind: Agent
metadata: { name: a }
spec: { modelConfig: { modelRef: Model/m } }
---
apiVersion: goondan.ai/v1
kind: Swarm
metadata: { name: default }
spec: { entryAgent: Agent/a, agents: [Agent/a], policy: { spares: 0 } }
`,
  });
  const state = temporaryBundle({});
  made.push(bundle, state);
  const swarm = await startBeside({ bundleFolder: bundle.folder, stateRoot: state.folder, ...(onLog && { onLog }) });
  const { pid, workspaceId } = await swarm.status();
  return { swarm, pid, socket: join(state.folder, 'workspaces', workspaceId, 'control.sock') };
}

describe('a swarm in a Bun process beside the program', () => {
  test('answers, and stop() gives onLog the last lines and leaves no process', async () => {
    const lines: string[] = [];
    const { swarm, pid } = await start(({ event }) => void (event !== undefined && lines.push(event)));
    expect(textOf((await swarm.ask({ input: 'hello' })).result.responseMessage)).toBe('You said: hello');
    await swarm.stop();
    expect(swarm.failure).toBeUndefined();
    expect(() => process.kill(pid, 0)).toThrow();
    expect(lines.at(-1)).toBe('swarm.stopped');
  });

  test('is stopped although its control socket was deleted', async () => {
    const { swarm, pid, socket } = await start();
    rmSync(socket);
    await swarm.stop();
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test('is stopped by force when its process does not react', async () => {
    const { swarm, pid, socket } = await start();
    process.kill(pid, 'SIGSTOP');
    rmSync(socket);
    await swarm.stop();
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test('has a failure when its process is killed', async () => {
    const { swarm, pid } = await start();
    process.kill(pid, 'SIGKILL');
    await swarm.stopped;
    expect(swarm.failure).toMatchObject({ code: 'E_PROCESS_START', message: expect.stringContaining('SIGKILL') });
  });

  test('tells why it ended by itself', async () => {
    const { swarm, socket } = await start();
    await swarm.ask({ input: 'hello' });
    const folder = dirname(socket);
    renameSync(folder, `${folder}-moved`);
    mkdirSync(folder, { mode: 0o700 });
    // The next input shows at once that the folder is lost. The input needs the socket, so the socket is moved back.
    renameSync(join(`${folder}-moved`, 'control.sock'), socket);
    await swarm.deliver({ input: 'too late' }).catch(() => undefined);
    await swarm.stopped;
    expect(swarm.failure).toMatchObject({ code: 'E_FENCED' });
  });

  test('runs on when a listener of the program throws, which is an uncaught exception there', async () => {
    const state = temporaryBundle({});
    made.push(state);
    const scripted = { provider: 'scripted', model: 'm', options: { script: [{ say: 'Hi' }] } };
    const agents = [{ agentName: 'a', models: { 'Model/m': scripted } }];
    const plan = JSON.stringify({ name: 'default', workspace: 'w', agents, stateRoot: state.folder });
    const program = `
      import { startBeside } from ${JSON.stringify(join(import.meta.dir, 'start-beside.ts'))};
      let thrown = 0;
      process.on('uncaughtException', () => (thrown += 1));
      const onLog = () => { throw new Error('mine'); };
      const swarm = await startBeside({ ...${plan}, onLog });
      const { result } = await swarm.ask({ input: 'hello' });
      console.log(result.finishReason, thrown > 0);
      await swarm.stop();`;
    const child = Bun.spawn([process.execPath, '--eval', program], { stdout: 'pipe', stderr: 'inherit' });
    expect(await new Response(child.stdout).text()).toBe('text_response true\n');
    expect(await child.exited).toBe(0);
  });

  test('is refused with its own error when it cannot start', async () => {
    const state = temporaryBundle({});
    made.push(state);
    const refused = startBeside({ bundleFolder: join(state.folder, 'nowhere'), stateRoot: state.folder });
    expect(await refused.catch((error: unknown) => error)).toMatchObject({ code: expect.stringMatching(/^E_BUNDLE/) });
  });
});
