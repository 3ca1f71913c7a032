import { expect, test } from 'bun:test';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentAddress } from '@goondan/types';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import { directoryOf } from '../../store/files/journal-seams.ts';
import { instancePaths, workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import type { Instance } from '../instances/instance.ts';
import type { Report } from '../instances/swarm-listener.ts';
import { copyStates } from './copy-states.ts';
import { closeAfterEach } from '../../testing/close-after-each.ts';

const { cleanups } = closeAfterEach();

function agentWith(...names: string[]) {
  const extensions = names.map((name) => ({
    resource: {
      apiVersion: 'goondan.ai/v1' as const,
      kind: 'Extension' as const,
      metadata: { name },
      spec: { entry: './x.ts' },
    },
    root: '/',
  }));
  return { agentName: 'a', extensions };
}
const agent = agentWith('counter');

/** Writes conversations of agent `a`, whose state is their key. `used`: the moment of the last use, in seconds. */
async function write(used: Readonly<Record<string, number>>, awake: readonly string[] = []) {
  const stateRoot = mkdtempSync(join(tmpdir(), 'goondan-states-'));
  cleanups.push(() => rmSync(stateRoot, { recursive: true, force: true }));
  const store = { stateRoot, workspaceId: 'test' };
  const known: AgentAddress[] = [{ agentName: 'other', instanceKey: 'newest' }];
  const writer = await durableStore({ ...store, warn: () => undefined });
  for (const [instanceKey, seconds] of Object.entries(used)) {
    const address = { agentName: 'a', instanceKey };
    known.push(address);
    await writer.commitStates(address, 0, { counter: instanceKey });
    utimesSync(instancePaths(workspaceFolder(stateRoot, 'test'), address).events, seconds, seconds);
  }
  // The writer keeps its locks: copying must not need them.
  cleanups.push(() => writer.close());
  const journal = await durableStore({ ...store, warn: () => undefined });
  cleanups.push(() => journal.close());
  // The test needs only this field of an instance.
  const find = ({ instanceKey }: AgentAddress) => ({ hasProcess: awake.includes(instanceKey) }) as unknown as Instance;
  const reported: string[] = [];
  const report: Report = (_level, _event, message) => void reported.push(message);
  const seams = { history: journal, directory: directoryOf(store, async () => journal) };
  return { instances: { known: () => known, find }, store: seams, reported, report };
}

test('L-01 a trial gets the states of a conversation that is awake, without its lock', async () => {
  expect(await copyStates(agent, await write({ first: 1, second: 3, third: 2 }, ['third']))).toEqual({
    counter: 'third',
  });
});

test('else of the conversation that was used last', async () => {
  expect(await copyStates(agent, await write({ first: 1, second: 3, third: 2 }))).toEqual({ counter: 'second' });
});

test('without a conversation, or with one that cannot be read, a trial begins without states', async () => {
  expect(await copyStates(agent, await write({}))).toEqual({});
  const deps = await write({ first: 1 });
  const history = { read: () => Promise.reject(new Error('damaged')) };
  expect(await copyStates(agent, { ...deps, store: { ...deps.store, history } })).toEqual({});
});

test('a trial gets only the states of the parts on trial, without those that are too long for a message', async () => {
  const deps = await write({ first: 1 });
  const long = 'x'.repeat(20_000_000);
  const extensionState = { retained: 'not on trial', one: long, two: long, counter: 1 };
  const history = {
    read: async () => ({ version: 0, stateVersion: 0, messages: [], extensionState }),
  };
  const parts = agentWith('counter', 'one', 'two', 'new');
  expect(Object.keys(await copyStates(parts, { ...deps, store: { ...deps.store, history } }))).toEqual([
    'one',
    'counter',
  ]);
  expect(deps.reported).toEqual(['The trial begins without states that are too long to be copied: two.']);
});
