import { expect, test } from 'bun:test';
import type { LogLine } from '@goondan/runtime';
import { OwnLines } from './own-lines.ts';

const own = { agent: 'host', instanceKey: 'default' };
const accepted = { accepted: true, duplicate: false, eventId: 'e', turnId: 'turn-e', traceId: 't', ...own } as const;
const busy = { status: 'waiting', queued: 1, crashes: 0 } as const;

function printed(line: Partial<LogLine>, isAccepted = true): boolean {
  const lines = new OwnLines({ id: 'e', input: 'Hello' });
  lines.leaveOut([
    { agent: 'clerk', instanceKey: 'earlier', ...busy },
    { agent: 'clerk', instanceKey: 'idle', ...busy, queued: 0 },
  ]);
  if (isAccepted) lines.begin(accepted);
  const time = '2026-01-01T00:00:00.000Z';
  return !lines.isReported({ time, level: 'error', message: 'm', event: 'x', ...line }, 'host');
}

const at = (agent: string, instance: string) => ({ agent, instance });

test.each<[string, boolean, Partial<LogLine>]>([
  ['about the swarm', true, {}],
  ['about a connection', true, { connection: 'web' }],
  ['of its conversation', true, at('host', 'default')],
  ['of a turn that it caused', true, { ...at('clerk', 'k'), traceId: 't', event: 'turn.failed' }],
  ['of an agent that it called and that does not start', true, { ...at('clerk', 'k'), event: 'start.failed' }],
  ['of a conversation that was there before, without work', true, { ...at('clerk', 'idle'), event: 'start.failed' }],
  ['of a turn of others', false, { ...at('clerk', 'k'), traceId: 'other' }],
  ['of a turn of others in another conversation of its agent', false, { ...at('host', 'k'), traceId: 'other' }],
  ['of work that was there before', false, { ...at('clerk', 'earlier'), event: 'start.failed' }],
  ['that the last line of the command repeats', false, { ...at('host', 'default'), event: 'start.failed' }],
])('a line %s is printed: %p', (_what, isPrinted, line) => {
  expect(printed(line)).toBe(isPrinted);
});

test('before its input is accepted, only lines of its conversation are printed, or of its agent without one', () => {
  expect(printed({ agent: 'host' }, false)).toBe(true);
  expect([printed(at('host', 'default'), false), printed(at('clerk', 'k'), false)]).toEqual([true, false]);
});
