import { afterEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, utimesSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AgentAddress } from '@goondan/types';
import { durableStore } from '../../workspace/journal/durable-store.ts';
import { instancePaths, workspaceFolder } from '../../workspace/layout/instance-paths.ts';
import type { Instance } from '../instances/instance.ts';
import { copyStates } from './copy-states.ts';

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
});

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
    utimesSync(instancePaths(workspaceFolder(stateRoot, 'test'), address).metadata, seconds, seconds);
  }
  // The writer keeps its locks: copying must not need them.
  cleanups.push(() => writer.close());
  const journal = await durableStore({ ...store, warn: () => undefined });
  cleanups.push(() => journal.close());
  // The test needs only this field of an instance.
  const find = ({ instanceKey }: AgentAddress) => ({ hasProcess: awake.includes(instanceKey) }) as unknown as Instance;
  return { instances: { known: () => known, find }, journal, store };
}

test('L-01 a trial gets the states of a conversation that is awake, without its lock', async () => {
  expect(await copyStates('a', await write({ first: 1, second: 3, third: 2 }, ['third']))).toEqual({
    counter: 'third',
  });
});

test('else of the conversation that was used last', async () => {
  expect(await copyStates('a', await write({ first: 1, second: 3, third: 2 }))).toEqual({ counter: 'second' });
});

test('without a conversation, or with one that cannot be read, a trial begins without states', async () => {
  expect(await copyStates('a', await write({}))).toEqual({});
  const deps = await write({ first: 1 });
  const journal = { read: () => Promise.reject(new Error('damaged')) };
  expect(await copyStates('a', { ...deps, journal })).toEqual({});
});
