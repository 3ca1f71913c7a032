import { expect, test } from 'bun:test';
import type { AgentDescription } from '../../ipc/from-agent.ts';
import { keepKnownTools } from './keep-known-tools.ts';

const registered = (name: string, extension = 'files', seenAt = '2026-01-01') => ({ name, extension, seenAt });
const made = (more: Partial<AgentDescription>): AgentDescription => ({
  extensions: ['files', 'mail'],
  layers: [],
  tools: [],
  ...more,
});

const before = made({
  tools: ['clock__now', 'files__look', 'mail__send'],
  registered: [registered('files__look'), registered('mail__send', 'mail')],
});

test('a server that is not connected yet has the tools seen last', () => {
  const next = made({ tools: ['clock__now'], unknown: ['files', 'web'] });
  expect(keepKnownTools(next, before)).toEqual(
    made({ tools: ['clock__now', 'files__look'], registered: [registered('files__look')], unknown: ['web'] }),
  );
});

test('an existing tool is not listed twice', () => {
  const next = made({ tools: ['files__look'], registered: [registered('files__look')], unknown: ['files'] });
  expect(keepKnownTools(next, before)).toBe(next);
});

test('a connected server has its current tools only', () => {
  const next = made({ tools: ['files__new'], registered: [registered('files__new')] });
  expect(keepKnownTools(next, before)).toBe(next);
  expect(keepKnownTools(next, undefined)).toBe(next);
});
