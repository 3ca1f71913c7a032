// Tests that a workspace has only one orchestrator. A second orchestrator is refused while the first one runs. After
// the first one was killed, the second one continues its work.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { watch } from 'node:fs';
import { connectSwarm, type LogLine } from '@goondan/runtime';
import { durableStore } from '@goondan/runtime/history';
import { textOf } from '@goondan/types';
import { rejectionOf } from '../../packages/runtime/src/workspace/simulation/rejection-of.ts';
import { readOwner } from '../../packages/runtime/src/testing/read-owner.ts';
import { testInProof } from '../samples.ts';
import { commandOf, findTagged, guardiansOf, waitUntilGone } from '../supervision/kit.ts';
import { openWorkspace } from './open-workspace.ts';
import { answerOf, errand, foldersIn, readNotes, release, workspace } from './start-test-swarm.ts';
import { until } from '../until.ts';

setDefaultTimeout(60_000);

const agents = ['host', 'guest'];
const place = (folder: string) => ({ stateRoot: foldersIn(folder).stateRoot, workspaceId: workspace });

async function runTagOf(folder: string): Promise<string> {
  return (await readOwner(place(folder)))?.runTag ?? '';
}

describe('a second orchestrator on the same workspace', () => {
  test('is refused, naming the owner, from this process and from another', async () => {
    await using opened = await openWorkspace(agents);
    const { folder } = opened;
    const { greeting: first, child } = await opened.startThere();
    expect(first.pid).toBe(child.pid);
    const message = expect.stringMatching(new RegExp(`^Swarm test runs in .* already: process ${first.pid}, since 20`));
    const refusal = { code: 'E_SWARM_RUNNING', message };
    expect(await rejectionOf(opened.startHere())).toMatchObject(refusal);
    expect((await opened.startThere()).greeting).toEqual(refusal);

    // The first orchestrator is not affected, and ends as usual.
    const control = await connectSwarm(place(folder));
    expect(answerOf(await control.ask({ input: 'ask guest hello' }))).toBe('guest heard: hello');
    const runTag = await runTagOf(folder);
    await control.stop();
    expect(await waitUntilGone(runTag, 2_000)).toBeDefined();
    await child.exited;

    // The workspace is free now.
    const next = await opened.startHere();
    expect(answerOf(await next.ask({ input: 'hello' }))).toBe('host heard: hello');
    await next.stop();
  });

  test('finds no socket of the first one when it gets the workspace', async () => {
    await using opened = await openWorkspace(agents);
    const first = await opened.startHere();
    const changed: string[] = [];
    const watcher = watch(opened.workspaceFolder, (_, name) => void changed.push(String(name)));
    await first.stop();
    await until(() => ['control.sock', 'orchestrator.json'].every((name) => changed.includes(name)));
    watcher.close();
    expect(changed.lastIndexOf('control.sock')).toBeLessThan(changed.indexOf('orchestrator.json'));
  });

  // In `npm test`, own-workspace.process.test.ts has races for a workspace.
  testInProof('one of several that start at the same moment gets it', async () => {
    await using opened = await openWorkspace(agents);
    const started = await Promise.all([
      opened.startThere(),
      opened.startThere(),
      opened.startThere(),
      opened.startThere(),
    ]);
    const greetings = started.map(({ greeting }) => greeting);
    const [winner, ...others] = greetings.filter(({ pid }) => pid !== undefined);
    expect(others).toEqual([]);
    const refusals = greetings.filter(({ code }) => code !== undefined);
    expect(refusals.map(({ code }) => code)).toEqual(Array(3).fill('E_SWARM_RUNNING'));
    for (const { message } of refusals) expect(message).toContain(`process ${winner?.pid}`);
    await (await connectSwarm(place(opened.folder))).stop();
  });
});

describe('after an orchestrator was killed with SIGKILL', () => {
  test('R-03 the next one starts, ends its remaining processes, and handles its accepted events', async () => {
    await using opened = await openWorkspace(agents);
    const { folder } = opened;
    const { child } = await opened.startThere();
    const runTag = await runTagOf(folder);
    const control = await connectSwarm(place(folder));
    // The host has left a program running, and waits for the guest. Three more events are queued for the host.
    const asking = { ask: { target: 'guest', errand: { name: 'again-held', steps: [{ hold: 'gate' }] } } } as const;
    await control.deliver({ id: 'event-0', input: errand('again-asking', [{ leave: 'program' }, asking]) });
    const later = ['event-1', 'event-2', 'event-3'];
    for (const id of later) await control.deliver({ id, input: id });
    await until(() => readNotes(folder).some(({ what, agentName }) => what === 'began' && agentName === 'guest'), {
      about: 'the guest works',
    });

    await killWithGuardian(child, runTag);
    // The agents ended with their orchestrator, but the program did not.
    await until(() => findTagged(runTag).every(isSleep), { about: 'the agents are gone' });
    expect(findTagged(runTag)).toHaveLength(1);

    const logs: LogLine[] = [];
    const next = await opened.startHere((line) => void logs.push(line));
    const nextTag = await runTagOf(folder);
    expect(findTagged(runTag)).toEqual([]);
    // One of these processes is the program. The other may be an agent whose start had just begun when its orchestrator
    // was killed.
    expect(logs.find(({ event }) => event === 'run.left_over')?.message).toMatch(/^Ended [12] processes of /);
    // Nothing waits for these events any more, but they are handled, because they were accepted.
    const handled: string[] = [];
    await next.watch({ types: ['turn.ended'], agent: 'host' }, (notice) => {
      if (notice.type === 'turn.ended') handled.push(notice.end.eventId);
    });
    release(folder, 'gate');
    await until(() => handled.length === 4, { about: 'all of it is handled' });
    expect(handled).toEqual(['event-0', ...later]);
    // If an event is sent again with the same id, the sender gets the answer of that event.
    const ends = await Promise.all(['event-0', ...later].map((id) => next.ask({ id, input: id })));
    const [answer, ...answers] = ends.map(answerOf);
    expect(JSON.parse(answer ?? '')).toMatchObject({
      name: 'again-asking',
      ends: [{}, { errand: { agentName: 'guest', name: 'again-held' } }],
    });
    expect(answers).toEqual(later.map((id) => `host heard: ${id}`));
    await next.stop();
    expect(await waitUntilGone(nextTag, 2_000)).toBeDefined();

    // Each event was handled once, in the order of acceptance.
    const inputs = await readInputs(folder, 'host');
    expect(inputs.slice(1)).toEqual(later);
    expect(inputs[0]).toContain('again-asking');
    expect(await readInputs(folder, 'guest')).toHaveLength(1);
  });

  test('the guardian alone leaves nothing of it within two seconds', async () => {
    await using opened = await openWorkspace(agents);
    const { folder } = opened;
    const { child } = await opened.startThere();
    const runTag = await runTagOf(folder);
    const control = await connectSwarm(place(folder));
    await control.deliver({ input: errand('leaving', [{ leave: 'program' }, { hold: 'gate' }]) });
    await until(() => findTagged(runTag).some(isSleep), { about: 'it works' });
    child.kill('SIGKILL');
    expect(await waitUntilGone(runTag, 2_000)).toBeDefined();
  });
});

/** Returns the inputs of an agent, in order. */
async function readInputs(folder: string, agentName: string): Promise<readonly string[]> {
  const journal = await durableStore(place(folder));
  const { messages } = await journal.read({ agentName, instanceKey: 'default' });
  await journal.close();
  return messages.filter(({ data }) => data.role === 'user').map((message) => textOf(message));
}

/**
 * Kills the orchestrator and its guardian, so that nothing cleans up. The orchestrator is stopped (SIGSTOP) first,
 * because it would otherwise start another guardian.
 */
async function killWithGuardian(orchestrator: Bun.Subprocess, runTag: string): Promise<void> {
  const guardians = guardiansOf(runTag);
  expect(guardians).toHaveLength(1);
  orchestrator.kill('SIGSTOP');
  process.kill(guardians[0] ?? 0, 'SIGKILL');
  orchestrator.kill('SIGKILL');
  await orchestrator.exited;
}

function isSleep(pid: number): boolean {
  return commandOf(pid).startsWith('sleep\0');
}
