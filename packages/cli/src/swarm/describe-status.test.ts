import { expect, test } from 'bun:test';
import type { SwarmStatus } from '@goondan/runtime';
import { describeStatus } from './describe-status.ts';

const forged = 'no\n  other (default): idle, process 7';

test('texts of a server cannot start new lines', () => {
  const status = {
    state: 'failed',
    extension: 'files',
    agentName: 'host',
    instanceKey: 'default',
    timestamp: '2026-01-02T03:04:05.678Z',
    since: '2026-01-02T03:04:05.678Z',
    problem: forged,
    lines: [forged],
    withheld: [{ name: forged, problem: forged }],
  } as const;
  const instance = { agent: 'host', instanceKey: 'default', status: 'idle', queued: 0, crashes: 0 } as const;
  const swarm = {
    swarm: 'default',
    pid: 1,
    startedAt: '2026-01-02T03:04:05.678Z',
    instances: [{ ...instance, extensions: [status] }],
    connections: [],
  };
  // The cast is safe: the other fields of a status are not shown.
  const shown = describeStatus(swarm as unknown as SwarmStatus);
  expect(shown).toContain('withheld: no');
  expect(shown.match(/^ {2}other/gm)).toBeNull();
});
