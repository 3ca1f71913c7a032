import { expect, test } from 'bun:test';
import type { SwarmStatus } from '@goondan/runtime';
import { describeStatus } from './describe-status.ts';

/** Describes a swarm with these parts. */
function show(parts: object, suggest: (text: string) => string = String): string {
  const status = { swarm: 'shop', pid: 7, startedAt: '', instances: [], connections: [], ...parts };
  // The cast is safe: the other fields of a status are not shown.
  return describeStatus(status as unknown as SwarmStatus, { isWatched: false, suggest });
}

/** Returns the rows of instances and kept connections, without the first line. */
const rowsOf = (parts: object) => show(parts).split('\n').slice(1, -1);

const instance = { agent: 'host', instanceKey: 'default', status: 'idle', queued: 0, crashes: 0 };
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
  };
  const shown = show({ instances: [{ ...instance, extensions: [status] }] });
  expect(shown).toContain('withheld: no');
  expect(shown.match(/^ {2}other/gm)).toBeNull();
});

test('a problem of several lines is one line without symbols', () => {
  const problem = 'E_CONFIG: two mistakes:\r\n  - one\n  - two\n';
  const instances = [{ ...instance, instanceKey: 'a\nb', status: 'does not start', problem }];
  const connections = [{ connection: 'web', status: 'waiting', crashes: 0, problem }];
  const changes = [{ at: '2026-01-02T03:04:05.678Z', outcome: 'refused', message: problem }];
  const shown = show({ instances, connections, changes });
  const words = 'E_CONFIG: two mistakes: - one - two';
  expect(shown.split('\n').slice(1)).toEqual([
    `  host (a␊b): does not start, ${words}, \`gdn reload\` and \`gdn restart\` try again`,
    `  web: waiting, ${words}`,
    'Latest changes:',
    `  2026-01-02T03:04:05Z  ${words}`,
    '',
  ]);
});

test('the code that last blocked a process is shown with its age, unless a problem is', () => {
  const blocked = { ...instance, lastBlocked: { code: 'blocked in tool a__b (a.ts)', agoMs: 3_000 } };
  expect(rowsOf({ instances: [blocked, { ...blocked, problem: 'E_CONFIG: no' }] })).toEqual([
    '  host (default): idle, a process was blocked in tool a__b (a.ts) and killed 3.0 s ago',
    '  host (default): idle, E_CONFIG: no',
  ]);
});

test('at a terminal, times are local, as in the log', () => {
  const startedAt = new Date(2026, 0, 2, 3, 4, 5).toISOString();
  const status = { swarm: 'shop', pid: 7, startedAt, instances: [], connections: [] } as unknown as SwarmStatus;
  expect(describeStatus(status, { isWatched: true, suggest: String })).toBe(
    'Swarm "shop" runs in process 7 since 2026-01-02 03:04:05.\n',
  );
});

test('the inputs of an instance are described as in `gdn instance list`', () => {
  const working = { ...instance, instanceKey: 'k', status: 'working', pid: 8, queued: 1 };
  expect(show({ instances: [working] })).toContain('\n  host (k): working, process 8, 1 input not handled yet\n');
});

test('L-02 kept connections are shown with their process, their conversation and their server', () => {
  const server = { state: 'connected', since: '2026-01-02T03:04:05.678Z', tools: ['look'], lost: 1, problem: forged };
  const each = { agent: 'host', extension: 'files', crashes: 0 };
  const kept = [
    { ...each, instanceKey: 'k', status: 'listening', pid: 9, server },
    { ...each, status: 'waiting', problem: forged },
  ];
  const shown = show({ kept });
  expect(shown).toContain(
    '\n  files of host (k), kept: listening, process 9\n    files: connected since 2026-01-02T03:04:05Z, 1 tool, lost 1 time,',
  );
  expect(shown).toContain('\n  files of host (all conversations), kept: waiting, no');
  expect(shown.match(/^ {2}other/gm)).toBeNull();
});

test('S-08 nodes are shown with their processes and conversations', () => {
  const node = { since: '2026-01-02T03:04:05.678Z', processes: 1 };
  const nodes = [
    { ...node, name: 'one', instances: 1 },
    { ...node, name: 'two', instances: 2, isDraining: true },
  ];
  expect(show({ nodes })).toContain(
    '\n  node one: lives, since 2026-01-02T03:04:05Z, 1 process, 1 conversation\n' +
      '  node two: drains, since 2026-01-02T03:04:05Z, 1 process, 2 conversations\n',
  );
});

test('a process that some of many conversations share has a line', () => {
  const instances = Array.from({ length: 21 }, (_, index) => ({ ...instance, instanceKey: `${index}`, pid: index }));
  const last = { ...instance, instanceKey: 'last', pid: 20 };
  expect(rowsOf({ instances: [...instances, last] }).filter((row) => row.endsWith('conversations'))).toEqual([
    '  process 20: 2 conversations',
  ]);
});

test('L-05 the latest three changes are shown, with the changeset that made or lost them', () => {
  const at = '2026-01-02T03:04:05.678Z';
  const changeset = { id: '1f3a9c2b', agent: 'host' };
  const changes = [
    { at, message: 'Reloaded: one.', changeset: { ...changeset, undone: true, by: 'ann' } },
    { at, message: 'Reloaded: two.', changeset },
    { at, message: forged },
    { at, message: 'Reloaded: four.' },
  ];
  const shown = show({ changes });
  expect(shown).toContain(
    '\nLatest changes:\n' +
      '  2026-01-02T03:04:05Z  changeset 1f3a9c2b of host undone by ann  Reloaded: one.\n' +
      '  2026-01-02T03:04:05Z  changeset 1f3a9c2b of host  Reloaded: two.\n' +
      '  2026-01-02T03:04:05Z  no',
  );
  expect(shown).not.toContain('four');
  expect(shown.match(/^ {2}other/gm)).toBeNull();
});

test('a long list of instances begins with those that need attention or work, then the newest, and is cut', () => {
  const numbered = (index: number, more: object = {}) => ({ ...instance, instanceKey: `k${index}`, ...more });
  const instances = Array.from({ length: 300 }, (_, index) => numbered(index));
  instances[3] = numbered(3, { status: 'working', queued: 1 });
  instances[2] = numbered(2, { questions: 1 });
  instances[1] = numbered(1, { status: 'does not start', problem: 'broken' });
  const shown = show({ instances }, (text) => text.replace('list', 'list --bundle shop')).split('\n');
  const keys = shown.slice(1, -2).map((line) => /\((.*?)\)/.exec(line)?.[1]);
  expect(keys).toEqual(['k1', 'k2', 'k3', ...Array.from({ length: 17 }, (_, index) => `k${299 - index}`)]);
  expect(shown.slice(-2)).toEqual(['  and 280 more: `gdn instance list --bundle shop`', '']);
});

test('a list that is cut names the processes that conversations share', () => {
  const instances = Array.from({ length: 30 }, (_, index) => ({
    ...instance,
    instanceKey: `k${index}`,
    ...(index === 0 ? {} : { pid: index === 1 ? 8 : 9 }),
  }));
  const describe = (some: typeof instances) => show({ instances: some }).match(/^ {2}process .*/gm);
  expect(describe(instances)).toEqual(['  process 9: 28 conversations']);
  expect(describe(instances.slice(0, 20))).toBeNull();
});

test('a long list hides no service that is not connected: neither of an instance nor a kept connection', () => {
  const since = '2026-01-02T03:04:05.000Z';
  const server = (state: string) => ({ extension: 'files', state, since });
  const instances = Array.from({ length: 30 }, (_, index) => ({
    ...instance,
    instanceKey: `k${index}`,
    extensions: [server(index === 4 ? 'failed' : 'connected')],
  }));
  const kept = Array.from({ length: 30 }, (_, index) => ({
    ...{ agent: 'host', extension: 'mail', instanceKey: `k${index}`, crashes: 0 },
    ...(index === 25 ? { status: 'waiting', problem: 'no route' } : { status: 'listening' }),
    server: server(index === 27 ? 'reconnecting' : 'connected'),
  }));
  const shown = show({ instances, kept }).split('\n');
  expect(shown[1]).toStartWith('  host (k4): ');
  expect(shown.filter((line) => line.includes('kept: ')).slice(0, 2)).toEqual([
    '  mail of host (k27), kept: listening',
    '  mail of host (k25), kept: waiting, no route',
  ]);
  expect(shown).toContain('  and 10 more: `gdn status --json`');
});

test('an instance that does not start has a suggestion, and one without inputs says nothing about them', () => {
  const instances = [
    { ...instance, instanceKey: 'a', status: 'does not start', queued: 2, problem: 'no key' },
    { ...instance, instanceKey: 'b', pid: 8 },
  ];
  expect(rowsOf({ instances })).toEqual([
    '  host (a): does not start, 2 inputs not handled yet, no key, `gdn reload` and `gdn restart` try again',
    '  host (b): idle, process 8',
  ]);
});

test.each([
  ['does not start', { status: 'does not start' }],
  ['has inputs', { queued: 1 }],
])('in a long list, an instance that only %s is among the first', (_, more) => {
  const instances = Array.from({ length: 30 }, (_each, index) => ({
    ...instance,
    ...{ instanceKey: `k${index}`, status: 'asleep' },
    ...(index === 5 && more),
  }));
  const keys = rowsOf({ instances }).map((row) => /\((.*?)\)/.exec(row)?.[1]);
  expect(keys.slice(0, 3)).toEqual(['k5', 'k29', 'k28']);
});

test('a list that is shown whole keeps its order: instances and kept connections', () => {
  const keys = Array.from({ length: 20 }, (_, index) => `k${index}`);
  const instances = keys.map((instanceKey, queued) => ({ ...instance, instanceKey, queued }));
  const kept = keys.map((instanceKey, index) => ({
    ...{ agent: 'host', extension: 'mail', instanceKey, crashes: 0, status: 'waiting' },
    ...(index === 9 && { problem: 'no route' }),
  }));
  const shown = rowsOf({ instances, kept }).map((row) => /\((.*?)\)/.exec(row)?.[1]);
  expect(shown).toEqual([...keys, ...keys]);
});

test('S-08 a swarm on many nodes has a line for each node, and instances name theirs', () => {
  const node = { version: '1', since: '2026-01-31T09:30:00.000Z', processes: 1, instances: 2 };
  const shown = show({
    nodes: [
      { ...node, name: 'one' },
      { ...node, name: 'two', isDraining: true },
      { ...node, name: 'three', problem: 'E_CONTROL_CLOSED: It is gone.' },
    ],
    instances: [{ ...instance, agent: 'clerk', status: 'working', pid: 7, node: 'two', queued: 1 }],
  });
  expect(shown).toBe(
    'Swarm "shop" runs on 3 nodes.\n' +
      '  node one: lives, since 2026-01-31T09:30:00Z, 1 process, 2 conversations\n' +
      '  node two: drains, since 2026-01-31T09:30:00Z, 1 process, 2 conversations\n' +
      '  node three: does not answer, since 2026-01-31T09:30:00Z, 1 process, 2 conversations, E_CONTROL_CLOSED: It is gone.\n' +
      '  clerk (default): working, process 7, on two, 1 input not handled yet\n',
  );
});
