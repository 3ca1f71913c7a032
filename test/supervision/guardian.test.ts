// Tests that no process survives its orchestrator, however the orchestrator ends.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { killTagged } from '../../packages/runtime/src/orchestrator/guardian/kill-tagged.ts';
import {
  commandOf,
  findTagged,
  guardiansOf,
  openSwarm,
  runTagOf,
  scriptedAgent,
  temporaryFolder,
  TEST_MS,
  waitUntilGone,
  workspace,
} from './kit.ts';
import { until } from '../until.ts';

setDefaultTimeout(TEST_MS);

/** The time within which every process must have ended. */
const GONE_MS = 2_000;
/** The number of programs that the two agents leave behind. */
const PROGRAMS = 20;

interface Doomed extends AsyncDisposable {
  readonly pid: number;
  readonly runTag: string;
  readonly guardian: number;
  kill(): Promise<void>;
}

/** Starts an orchestrator in a separate process. Resolves when the orchestrator's agents have begun to misbehave. */
async function startDoomed(stateRoot: string): Promise<Doomed> {
  const command = [process.execPath, '--no-install', join(import.meta.dir, 'doomed-swarm.ts'), stateRoot];
  const child = Bun.spawn(command, { stdio: ['ignore', 'pipe', 'inherit'], detached: true });
  const greeting = await child.stdout.getReader().read();
  expect(new TextDecoder().decode(greeting.value)).toBe('ready\n');
  const runTag = await runTagOf(stateRoot);
  await until(() => programsOf(runTag).length === PROGRAMS, { about: 'the programs run' });
  const [guardian = 0] = guardiansOf(runTag);
  const kill = async () => {
    child.kill('SIGKILL');
    await child.exited;
  };
  return {
    pid: child.pid,
    runTag,
    guardian,
    kill,
    async [Symbol.asyncDispose]() {
      await kill();
      // This cleans up after a failed test.
      await killTagged(runTag);
    },
  };
}

function programsOf(runTag: string): number[] {
  return findTagged(runTag).filter((pid) => commandOf(pid).startsWith('sleep'));
}

async function expectGone(runTag: string, withinMs = GONE_MS): Promise<void> {
  const goneAfterMs = await waitUntilGone(runTag, withinMs);
  expect(goneAfterMs === undefined ? findTagged(runTag).map(commandOf) : []).toEqual([]);
  await until(() => guardiansOf(runTag).length === 0, { about: 'the guardian is gone' });
}

describe('a killed orchestrator', () => {
  test('takes everything with it: agents with a blocked loop, and programs in separate sessions', async () => {
    await using folder = await temporaryFolder();
    await using doomed = await startDoomed(folder.path);
    await doomed.kill();
    await expectGone(doomed.runTag);
  });

  test('takes everything with it even after its guardian was killed: there is another one', async () => {
    await using folder = await temporaryFolder();
    await using doomed = await startDoomed(folder.path);
    process.kill(doomed.guardian, 'SIGKILL');
    await until(() => guardiansOf(doomed.runTag).some((pid) => pid !== doomed.guardian), {
      about: 'there is another one',
    });
    await doomed.kill();
    // The other guardian may still be starting.
    await expectGone(doomed.runTag, 10 * GONE_MS);
  });

  test('together with its guardian leaves programs behind, which the next start ends, also with a damaged orchestrator.json', async () => {
    await using folder = await temporaryFolder();
    await using doomed = await startDoomed(folder.path);
    // The orchestrator is stopped first, so that it does not notice the end of its guardian.
    process.kill(doomed.pid, 'SIGSTOP');
    process.kill(doomed.guardian, 'SIGKILL');
    await doomed.kill();
    // The programs of the blocked agent are left. The other agent may have had time to end its own programs.
    expect(programsOf(doomed.runTag).length).toBeGreaterThanOrEqual(PROGRAMS / 2);
    const record = join(folder.path, 'workspaces', workspace, 'orchestrator.json');
    writeFileSync(record, readFileSync(record, 'utf8').replace(doomed.runTag, doomed.runTag.replace(/.$/, 'g')));
    await using swarm = await openSwarm(folder.path, { agents: [scriptedAgent('other')] });
    expect(findTagged(doomed.runTag)).toEqual([]);
    // One line is about the processes, the other about the damage.
    expect(swarm.told('run.left_over')).toHaveLength(2);
    // The accepted inputs are still stored, in case an agent of that name is declared again.
    const waiting = new Set(swarm.told('agent.undeclared').map(({ instance }) => instance));
    expect(waiting).toEqual(new Set(['blocked', 'waiting']));
  });
});
