import { expect, test } from 'bun:test';
import { statusJson } from './status-json.ts';

const swarm = {
  swarm: 'default',
  workspaceId: 'default-1',
  version: '0.1.0',
  pid: 7,
  startedAt: '2026-06-05T08:04:00.000Z',
  entryAgent: 'host',
  agents: ['host', 'helper'],
  connections: [],
};
const at = { instanceKey: 'default', queued: 0, crashes: 0 };

test('every agent has a pid, which is null without a process', () => {
  const instances = [
    { ...at, agent: 'host', status: 'idle', pid: 8 } as const,
    { ...at, agent: 'helper', status: 'waiting', problem: 'It does not start.' } as const,
  ];
  expect(statusJson({ ...swarm, instances })).toEqual({
    running: true,
    pid: 7,
    swarm: 'default',
    startedAt: '2026-06-05T08:04:00.000Z',
    agents: [
      { ...at, agent: 'host', status: 'idle', pid: 8 },
      { ...at, agent: 'helper', status: 'waiting', pid: null, problem: 'It does not start.' },
    ],
    connections: [],
  });
});

test('a swarm that does not run has no agents', () => {
  expect(statusJson(undefined)).toEqual({ running: false, agents: [] });
});

test('L-02 kept connections are listed, if there are any', () => {
  const kept = [{ agent: 'host', extension: 'files', status: 'listening', pid: 9, crashes: 0 } as const];
  expect(statusJson({ ...swarm, instances: [], kept })).toMatchObject({ kept });
  expect(statusJson({ ...swarm, instances: [] })).not.toHaveProperty('kept');
});

test('L-05 the latest changes and refusals of a running swarm are listed', () => {
  const changes = [{ at: '2026-01-01T00:00:00.000Z', message: 'Nothing was changed.' }];
  const status = { swarm: 's', workspaceId: 'w', pid: 1, startedAt: '', version: '1', entryAgent: 'a', agents: [] };
  expect(statusJson({ ...status, instances: [], connections: [], changes })).toMatchObject({ changes });
});
