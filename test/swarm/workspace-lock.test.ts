// Tests that a workspace has only one orchestrator, even if two orchestrators cannot see each other. An orchestrator
// that loses its workspace ends.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectSwarm, type LogLine } from '@goondan/runtime';
import { durableStore } from '@goondan/runtime/history';
import { textOf } from '@goondan/types';
import { rejectionOf } from '../../packages/runtime/src/workspace/simulation/rejection-of.ts';
import { hasPart, inPidNamespace, works } from '../parts.ts';
import { openWorkspace } from './open-workspace.ts';
import { answerOf, errand, startTestSwarm } from './start-test-swarm.ts';
import { until } from '../until.ts';

setDefaultTimeout(60_000);

const hasNamespaces = hasPart(
  'pid namespaces',
  works([...inPidNamespace, 'true']),
  '`unshare --pid` does not work here',
);

describe.skipIf(!hasNamespaces)('a swarm in another pid namespace', () => {
  test('keeps a second one out, whatever happens to orchestrator.json, and loses nothing it acknowledged', async () => {
    await using opened = await openWorkspace(['host']);
    const { place, workspaceFolder } = opened;
    const { child } = await opened.startThere(inPidNamespace);
    const file = join(workspaceFolder, 'orchestrator.json');
    const isRefused = async () =>
      expect(await rejectionOf(opened.startHere())).toMatchObject({
        code: 'E_SWARM_RUNNING',
        message: expect.stringMatching(
          /^Swarm test runs in .* already: process \d+ of .*, which is not visible from here/,
        ),
      });

    const acknowledged: string[] = [];
    const deliver = async (count: number) => {
      // A command finds the swarm by its control socket, not by `orchestrator.json`.
      const control = await connectSwarm(place);
      for (let each = 0; each < count; each += 1) {
        const input = `input ${acknowledged.length}`;
        await control.deliver({ input });
        acknowledged.push(input);
      }
    };
    await Promise.all([isRefused(), deliver(5)]);
    const text = readFileSync(file);
    text.writeUInt8(text.readUInt8(3) ^ 4, 3);
    writeFileSync(file, text);
    await Promise.all([isRefused(), deliver(5)]);
    rmSync(file);
    await Promise.all([isRefused(), deliver(5)]);

    const control = await connectSwarm(place);
    expect(answerOf(await control.ask({ input: 'the last' }))).toBe('host heard: the last');
    await control.stop();
    await child.exited;
    const journal = await durableStore(place);
    const { messages } = await journal.read({ agentName: 'host', instanceKey: 'default' });
    await journal.close();
    const heard = messages.filter(({ data }) => data.role === 'user').map((message) => textOf(message));
    expect(heard).toEqual([...acknowledged, 'the last']);
  });
});

describe('a swarm whose workspace is taken away', () => {
  test('accepts nothing more, reports it, ends, and does not affect the new owner', async () => {
    await using opened = await openWorkspace(['host']);
    const { place, workspaceFolder } = opened;
    const logs: LogLine[] = [];
    const first = await opened.startHere((line) => void logs.push(line));
    expect(answerOf(await first.ask({ input: 'hello' }))).toBe('host heard: hello');
    renameSync(workspaceFolder, `${workspaceFolder}-moved`);
    await opened.startThere();

    expect(await rejectionOf(first.deliver({ input: 'too late' }))).toMatchObject({ code: 'E_FENCED' });
    await first.stopped;
    expect(first.failure).toMatchObject({ code: 'E_FENCED' });
    expect(logs.find(({ event }) => event === 'workspace.lost')).toMatchObject({
      level: 'error',
      message: `${workspaceFolder}/workspace.lock was removed or replaced, alone or with its folder, while this swarm ran. The swarm ends.`,
    });

    const second = await connectSwarm(place);
    expect(answerOf(await second.ask({ input: 'hello' }))).toBe('host heard: hello');
    expect(readdirSync(workspaceFolder)).toContain('run');
    await second.stop();
  });

  test('starts no process in a missing place: waiting events are neither run nor written there', async () => {
    await using running = await startTestSwarm({ agents: ['host'] });
    const { swarm, workspace: folder } = running;
    await swarm.deliver({ agent: 'host', input: errand('held', [{ hold: 'gate' }]) });
    await swarm.deliver({ agent: 'host', input: 'waits' });
    await until(async () => (await swarm.status()).instances.some(({ status }) => status === 'working'), {
      about: 'it is at work',
    });
    renameSync(folder, `${folder}-moved`);
    process.kill((await swarm.status()).instances[0]?.pid ?? 0, 'SIGKILL');
    await swarm.stopped;
    expect(swarm.failure).toMatchObject({ code: 'E_FENCED' });
    expect([existsSync(folder), running.ends]).toEqual([false, []]);
  });

  test('ends when its state root is deleted, and does not make it again', async () => {
    await using opened = await openWorkspace(['host']);
    const { place } = opened;
    const swarm = await opened.startHere();
    await swarm.ask({ input: 'hello' });
    rmSync(place.stateRoot, { recursive: true });
    expect(await rejectionOf(swarm.deliver({ input: 'too late' }))).toMatchObject({ code: 'E_FENCED' });
    await until(() => swarm.failure !== undefined, { about: 'it is over' });
    await swarm.stopped;
    expect(existsSync(place.stateRoot)).toBe(false);
  });
});
