import { afterEach, describe, expect, test } from 'bun:test';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { textOf } from '@goondan/types';
import type { LogLine } from './ports/log-line.ts';
import { startBeside } from './start-beside.ts';
import { temporaryBundle } from './testing/temporary-bundle.ts';

const made: Disposable[] = [];
afterEach(() => {
  for (const each of made.splice(0)) each[Symbol.dispose]();
});

/** Starts a swarm as a Node program does; the Bun of this test may do it, too. */
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
  test('F-06 answers, and stop() gives onLog the last lines and leaves no process', async () => {
    const lines: string[] = [];
    const { swarm, pid } = await start(({ event }) => void (event !== undefined && lines.push(event)));
    expect(textOf((await swarm.ask({ input: 'hello' })).result.responseMessage)).toBe('You said: hello');
    await swarm.stop();
    expect(swarm.failure).toBeUndefined();
    expect(() => process.kill(pid, 0)).toThrow();
    expect(lines.at(-1)).toBe('swarm.stopped');
  });

  test('F-06 is stopped although its control socket was deleted', async () => {
    const { swarm, pid, socket } = await start();
    rmSync(socket);
    await swarm.stop();
    expect(() => process.kill(pid, 0)).toThrow();
  });

  test('F-06 has a failure when its process is killed', async () => {
    const { swarm, pid } = await start();
    process.kill(pid, 'SIGKILL');
    await swarm.stopped;
    expect(swarm.failure).toMatchObject({ code: 'E_PROCESS_START', message: expect.stringContaining('SIGKILL') });
  });
});
