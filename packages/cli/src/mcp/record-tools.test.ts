import { afterEach, beforeEach, expect, test } from 'bun:test';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { DeclaredAgent } from '@goondan/runtime/bundle';
import { openStoreReader } from '@goondan/runtime/history';
import { recordDescriptions } from '@goondan/runtime/internal';
import { viewAgents } from '../studio/api/view-agents.ts';
import { openTerminal } from '../terminal.ts';
import { recordTools } from './record-tools.ts';

let place: { stateRoot: string; workspaceId: string };
let printed: string;
beforeEach(() => {
  place = { stateRoot: mkdtempSync(join(tmpdir(), 'goondan-record-')), workspaceId: 'w' };
  printed = '';
});
afterEach(() => rmSync(place.stateRoot, { recursive: true }));

const write = (text: string) => void (printed += text);
const terminal = openTerminal({ stdout: { write }, stderr: { write }, env: {} });
const agents = (...names: string[]): DeclaredAgent[] => names.map((agentName) => ({ agentName, models: {} }));
const seen = { extension: 'files', offered: ['files__look', 'files__list'] };

test('tools that a test saw replace the earlier ones, and the record of the last start stays', async () => {
  const before = {
    extensions: ['files', 'notes', 'mail'],
    layers: [],
    tools: ['clock__now', 'files__old', 'notes__search'],
    registered: [
      { name: 'files__old', extension: 'files', seenAt: '2026-01-01' },
      { name: 'notes__search', extension: 'notes', seenAt: '2026-01-01' },
    ],
    unknown: ['mail'],
    digest: 'abc',
  };
  const recorder = recordDescriptions({
    ...place,
    warn: ({ message }) => expect.unreachable(message),
    mayMakeWorkspace: true,
  });
  recorder.record('host', before);
  await recorder.settled();
  await recordTools(place, agents('host'), seen.extension, seen.offered, terminal);
  const recorded = await openStoreReader(place).directory.describe('host');
  expect(recorded).toEqual({
    ...before,
    tools: ['clock__now', 'notes__search', 'files__look', 'files__list'],
    registered: [
      { name: 'notes__search', extension: 'notes', seenAt: '2026-01-01' },
      { name: 'files__look', extension: 'files', seenAt: expect.any(String) },
      { name: 'files__list', extension: 'files', seenAt: expect.any(String) },
    ],
    recordedAt: expect.any(String),
  });
  expect(printed).toBe('');
});

test('for an agent that never started they are kept for each user, without layers', async () => {
  await recordTools(place, agents('host', 'guest'), seen.extension, seen.offered, terminal);
  for (const name of ['host', 'guest']) {
    expect(await openStoreReader(place).directory.describe(name)).toMatchObject({
      tools: seen.offered,
      neverStarted: true,
    });
  }
  // If no agent declares the server any more, the server's tools are not shown.
  const declared = { entryAgent: 'host', agents: agents('host') };
  expect(await viewAgents(place, declared, [])).toMatchObject([{ name: 'host', tools: [], layers: [] }]);
});

test('a failed write is reported, and does not fail the test of the server', async () => {
  writeFileSync(join(place.stateRoot, 'workspaces'), 'in the way');
  await recordTools(place, agents('host'), seen.extension, seen.offered, terminal);
  expect(printed).toStartWith('The tools could not be kept for `gdn explain`: ');
});
