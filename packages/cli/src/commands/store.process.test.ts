// Tests the commands of a store with a real PostgreSQL, while no node runs.
import { afterAll, beforeAll, describe, expect, test } from '../../../postgres/src/testing/with-postgres.ts';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openDatabase } from '../../../postgres/src/driver/database.ts';
import { SCHEMA_VERSION as version } from '../../../postgres/src/schema/make-tables.ts';
import { makeTestDatabase, type TestDatabase } from '../../../postgres/src/testing/test-database.ts';
import { openPlace, outputOf } from '../testing/open-place.ts';
import { sampleBundle } from '../testing/sample-bundle.ts';
import type { TurnReport } from '../run/turn-report.ts';
import type { UsageReport } from '../usage/sum-spendings.ts';

const place = openPlace(afterAll);
let database: TestDatabase;
let store: string;
/** The first token; unset until it is made. */
let token: string | undefined;

beforeAll(async () => {
  database = await makeTestDatabase({ hasTables: false });
  store = `@${join(place.folder, 'store')}`;
  writeFileSync(store.slice(1), `${database.address}\n`);
  chmodSync(store.slice(1), 0o600);
  await place.write('bundle', { 'goondan.yaml': sampleBundle() });
});
afterAll(() => database.drop());

const gdn = (...args: string[]) =>
  place.runWith({ env: { GOONDAN_STORE: store, GOONDAN_CLUSTER_TOKEN: token } }, ...args);

async function json(...args: string[]): Promise<unknown> {
  const stdout = outputOf(await gdn(...args, '--json'));
  return JSON.parse(stdout);
}

async function refusal(
  ...args: string[]
): Promise<{ code: string; message: string; suggestion: string; exit: number }> {
  const { stdout, stderr, exitCode } = await gdn(...args, '--json');
  expect(stdout).toBe('');
  return { ...JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '').error, exit: exitCode };
}

describe('a database', () => {
  test('without tables is refused by every command but init, with the command that makes them', async () => {
    for (const args of [
      ...[['ls'], ['nodes'], ['status'], ['store', 'token', 'list'], ['send', '--input', 'x']],
      ...[
        ['store', 'token', 'add', 'x'],
        ['deploy', 'bundle'],
        ['run', 'bundle', '--trust', '--input', 'x'],
      ],
    ]) {
      expect(await refusal(...args)).toMatchObject({
        code: 'E_STORE_SCHEMA',
        message: 'The database has no tables of Goondan.',
        exit: 3,
      });
    }
    expect(await json('store', 'status')).toMatchObject({ schema: 0, swarms: [], warnings: expect.any(Array) });
    expect((await gdn('store', 'status')).stdout).toContain(
      'warn: The database has no tables of Goondan. Run `gdn store init`.',
    );
  });

  test('S-08 gets its tables and one token, which is printed once', async () => {
    const first = (await json('store', 'init')) as {
      version: number;
      isNew: boolean;
      token: string;
      tokenName: string;
    };
    // Before the check: `toMatchObject` puts its matchers into the object.
    ({ token } = first);
    expect(first).toMatchObject({ version, isNew: true, token: expect.stringMatching(/^gdn_[\w-]{43}$/) });
    const again = await gdn('store', 'init');
    expect(again.stdout).toContain(`has its tables already (version ${version})`);
    expect(again.stdout).not.toContain('gdn_');
    expect(await json('store', 'token', 'list')).toEqual([
      { name: first.tokenName, scope: 'operate', createdAt: expect.any(String) },
    ]);
  });

  test('with tables of another version is refused by every command, with what to do', async () => {
    const owner = openDatabase(database.address);
    await owner.query('update gdn_schema set version = 9');
    try {
      for (const args of [['store', 'init'], ['ls'], ['nodes'], ['run', 'bundle', '--trust', '--input', 'x']]) {
        expect(await refusal(...args)).toMatchObject({
          code: 'E_STORE_SCHEMA',
          message: `The tables of the database have version 9, and this version of Goondan needs version ${version}.`,
          exit: 3,
        });
      }
      expect((await gdn('store', 'status')).stdout).toContain('Use the version of Goondan that made the tables');
    } finally {
      await owner.query(`update gdn_schema set version = ${version}`);
      await owner.close();
    }
  });

  test('has tokens, whose values are not listed', async () => {
    const made = (await json('store', 'token', 'add', 'board', '--read')) as { token: string };
    expect(made).toMatchObject({ name: 'board', scope: 'read', token: expect.stringMatching(/^gdn_/) });
    const { stdout } = await gdn('store', 'token', 'list');
    expect(stdout).toMatch(/\nboard +read +\d{4}-/);
    expect(stdout).not.toContain('gdn_');
    expect((await refusal('store', 'token', 'add', 'board')).code).toBe('E_CLUSTER_TOKEN');
    expect((await refusal('store', 'token', 'add', 'a b')).code).toBe('E_CLUSTER_TOKEN');
    expect(await json('store', 'token', 'remove', 'board')).toEqual({ removed: true, name: 'board' });
    expect((await refusal('store', 'token', 'remove', 'board')).message).toBe('There is no token "board".');
  });

  test('S-08 is changed only with a token that may operate, by a node and by commands that ask no node', async () => {
    const reader = (await json('store', 'token', 'add', 'looker', '--read')) as { token: string };
    const before = await json('store', 'token', 'list');
    const commands = [
      ['a node', 'run bundle --trust --input x'],
      ['`gdn deploy`', 'deploy bundle'],
      ['`gdn nodes drain`', 'nodes drain one --bundle bundle'],
      ['`gdn store token add`', 'store token add eve'],
      ['`gdn store token remove`', 'store token remove looker'],
    ] as const;
    for (const [user, line] of commands) {
      const readOnly = `The token "looker" in GOONDAN_CLUSTER_TOKEN has the scope read, and ${user} needs the scope operate.`;
      for (const [wrong, message] of [
        [undefined, 'GOONDAN_CLUSTER_TOKEN is not set, and the nodes of a swarm need a token.'],
        ['x'.repeat(40), 'The store does not have the token of GOONDAN_CLUSTER_TOKEN.'],
        [reader.token, readOnly],
      ] as const) {
        const env = { GOONDAN_STORE: store, GOONDAN_CLUSTER_TOKEN: wrong };
        const { stderr, exitCode } = await place.runWith({ env }, ...line.split(' '), '--json');
        const { error } = JSON.parse(stderr.trimEnd().split('\n').at(-1) ?? '');
        expect({ line, exitCode, ...error }).toMatchObject({ exitCode: 3, code: 'E_CLUSTER_TOKEN', message });
        expect(error.suggestion).toContain('gdn store token add NAME');
      }
    }
    expect(await json('store', 'token', 'list')).toEqual(before);
    expect(await json('nodes', '--bundle', 'bundle')).toEqual([]);
    expect(await json('store', 'token', 'remove', 'looker')).toEqual({ removed: true, name: 'looker' });
  });

  test('S-08 keeps its last token that may operate; without one, only init makes another', async () => {
    const [first] = (await json('store', 'token', 'list')) as { name: string }[];
    const name = first?.name ?? '';
    expect((await refusal('store', 'token', 'remove', name)).message).toBe(
      `The token "${name}" is the last one that may operate.`,
    );
    expect(await json('store', 'token', 'remove', name, '--force')).toEqual({ removed: true, name });
    expect(await refusal('store', 'token', 'add', 'eve')).toMatchObject({
      code: 'E_CLUSTER_TOKEN',
      message: 'The store has no token that may operate.',
      suggestion: expect.stringContaining('gdn store init'),
    });
    const { stdout } = await gdn('store', 'init');
    expect(stdout).toContain('It had no token that may operate, so one was made.\n');
    expect(await json('store', 'token', 'list')).toMatchObject([{ name, scope: 'operate' }]);
  });

  test('shows its versions, and what could lose an acknowledged commit', async () => {
    const { stdout } = await gdn('store', 'status');
    expect(stdout).toMatch(/^postgres:\/\/postgres@127\.0\.0\.1:\d+\/\w+: PostgreSQL \d+.*, \d+ bytes\n/);
    expect(stdout).toContain(`, tables of version ${version}, `);
    expect(stdout).toContain('warn: No synchronous standby is configured');
  });

  test('without a swarm says so', async () => {
    expect(await json('ls')).toEqual([]);
    expect((await gdn('ls')).stdout).toContain('No swarm has run yet (store: postgres://postgres@127.0.0.1:');
    expect((await refusal('status')).message).toMatch(/^The store postgres:.* has no swarm yet\.$/);
  });

  test('S-08 can be read while no node runs, and refuses input then', async () => {
    expect(await json('nodes', '--bundle', 'bundle')).toEqual([]);
    expect(await json('status', '--bundle', 'bundle')).toEqual({ running: false, agents: [] });
    expect(await json('instance', 'list', '--bundle', 'bundle')).toEqual([]);
    expect(await json('trace', '--bundle', 'bundle')).toEqual([]);
    for (const args of [['send', '--input', 'x'], ['reload'], ['restart'], ['cancel'], ['stop']]) {
      const refused = await refusal(...args, '--bundle', 'bundle');
      expect(refused).toMatchObject({
        code: 'E_CONTROL_CLOSED',
        message: 'No node of swarm "default" is running.',
        exit: 3,
      });
    }
    // Questions are answered without a node.
    expect(await json('approve', '--bundle', 'bundle')).toEqual({ questions: [], grants: [] });
    expect(await refusal('approve', 'x', '--bundle', 'bundle')).toMatchObject({ code: 'E_QUESTION_UNKNOWN', exit: 3 });
    expect(await refusal('nodes', 'drain', 'one', '--bundle', 'bundle')).toMatchObject({
      code: 'E_NODE_UNKNOWN',
      exit: 3,
    });
    expect(await refusal('stop', '--node', 'one', '--bundle', 'bundle')).toMatchObject({ code: 'E_NODE_UNKNOWN' });
  });

  test('that is away is named without its password', async () => {
    const { stderr, exitCode } = await place.runWith(
      { env: { GOONDAN_STORE: 'postgres://gdn:hush@127.0.0.1:9/gdn' } },
      ...['ls', '--json'],
    );
    expect(stderr).toContain('"E_STORE_AWAY"');
    expect(stderr).not.toContain('hush');
    expect(exitCode).toBe(1);
  });
});

const onFiles = (...args: string[]) => place.runWith({ env: { GOONDAN_STORE: undefined } }, ...args);

describe('an imported swarm', () => {
  beforeAll(async () => {
    for (const [key, input] of [
      ['deleted', 'Hello, and good night'],
      ['default', 'Good morning'],
      ['default', 'Good evening'],
      ['ünï/코드', 'Hello'],
    ] as const) {
      expect(await onFiles('run', 'bundle', '--trust', '--instance', key, '--input', input)).toMatchObject({
        exitCode: 0,
      });
    }
    const erase = ['instance', 'delete', 'host', 'deleted', '--yes', '--bundle', 'bundle'];
    expect(await onFiles(...erase)).toMatchObject({ exitCode: 0 });
  });

  test('S-08 is copied once, and the files stay', async () => {
    const done = { swarm: 'default', key: 'default', problems: [] };
    expect(await json('store', 'import', 'bundle')).toEqual({ ...done, conversations: 2, skipped: 0 });
    expect(await json('store', 'import', 'bundle')).toEqual({ ...done, conversations: 0, skipped: 2 });
    const { stdout } = await gdn('store', 'import', 'bundle');
    expect(stdout).toContain(
      '; 2 were there already.\nFrom now on, the files are the old copy. Keep GOONDAN_STORE set: ',
    );
    expect(stdout).not.toContain('empty database');
    const typed = await onFiles('store', 'import', 'bundle', '--store', store);
    expect(typed.stdout).toContain('Set GOONDAN_STORE to the address of the store: ');
    expect((await onFiles('instance', 'list', '--bundle', 'bundle')).stdout.match(/asleep/g)).toHaveLength(2);
  });

  test('is not mixed with another one of the same name', async () => {
    await place.write('other', { 'goondan.yaml': sampleBundle() });
    expect(await onFiles('run', 'other', '--trust', '--instance', 'x', '--input', 'Hi')).toMatchObject({ exitCode: 0 });
    expect(await refusal('store', 'import', 'other')).toMatchObject({
      code: 'E_SWARM_TAKEN',
      message: `The store has conversations of a swarm "default" from the folder ${join(place.folder, 'bundle')}, and this one is in ${join(place.folder, 'other')}.`,
      exit: 3,
    });
    expect(await json('instance', 'list', '--bundle', 'bundle')).toHaveLength(2);
  });

  test.each([
    ['instance list'],
    ['instance show host default'],
    ['instance export host ünï/코드'],
    ['history host default'],
    ['history host default --at 2'],
    ['blame host default'],
    ['deadletter list'],
    ['trace last --json'],
    ['trace'],
    ['usage --by conversation'],
    ['explain'],
  ])('S-01 S-08 gdn %s prints the same as on files', async (line) => {
    const [stored, kept] = [
      await gdn(...line.split(' '), '--bundle', 'bundle'),
      await onFiles(...line.split(' '), '--bundle', 'bundle'),
    ];
    // Every export has its own time.
    const plain = (text: string) => text.replace(/"exportedAt": ".*"/, '');
    expect({ ...stored, stdout: plain(stored.stdout) }).toEqual({ ...kept, stdout: plain(kept.stdout) });
    expect(stored.exitCode).toBe(0);
  });

  test('Y-03 S-08 has its usage, also that of a deleted conversation, once', async () => {
    const usage = (await json('usage', '--by', 'conversation', '--bundle', 'bundle')) as UsageReport;
    expect(new Map(usage.rows.map(({ instanceKey, calls }) => [instanceKey, calls]))).toEqual(
      new Map([
        ['default', 2],
        [null, 1],
        ['ünï/코드', 1],
      ]),
    );
    expect(usage.total.calls).toBe(4);
  });

  test('S-08 is found without its bundle, by its name or because it is the only one', async () => {
    const cwd = place.stateRoot;
    for (const more of [[], ['--swarm', 'default']]) {
      const { stdout } = await place.runWith({ env: { GOONDAN_STORE: store }, cwd }, 'instance', 'list', ...more);
      expect(stdout.match(/asleep/g)).toHaveLength(2);
    }
    expect(await json('ls')).toMatchObject([
      { swarm: 'default', running: false, nodes: 0, conversations: 2, workspaceId: 'default' },
    ]);
  });

  test('is not changed without a node', async () => {
    const refused = { code: 'E_CONTROL_CLOSED', message: 'No node of swarm "default" is running.' };
    expect(await refusal('fork', 'host', 'default', '--as', 'copy', '--bundle', 'bundle')).toMatchObject(refused);
    expect(await refusal('instance', 'delete', 'host', 'default', '--yes', '--bundle', 'bundle')).toMatchObject(
      refused,
    );
    expect(await json('instance', 'list', '--bundle', 'bundle')).toHaveLength(2);
  });

  test('that never ran, or runs, is not imported', async () => {
    const elsewhere = ['--state-root', join(place.folder, 'another')];
    expect(await refusal('store', 'import', 'bundle', ...elsewhere)).toMatchObject({ code: 'E_SWARM_UNKNOWN' });
    await place.serveWith({ env: { GOONDAN_STORE: undefined } }, 'bundle');
    expect(await refusal('store', 'import', 'bundle')).toMatchObject({
      code: 'E_SWARM_RUNNING',
      message: expect.stringContaining('the swarm runs on them, or another import copies them'),
      suggestion: expect.stringContaining('Stop the swarm with `GOONDAN_STORE= gdn stop --bundle bundle`, or '),
    });
    expect(await onFiles('stop', '--bundle', 'bundle')).toMatchObject({ exitCode: 0 });
  });
});

test('S-08 a database user that may only read is enough for reading, and a missing right is named', async () => {
  expect(await gdn('deploy', 'bundle')).toMatchObject({ exitCode: 0 });
  const owner = openDatabase(database.address);
  const [deployed] = await owner.query('select deployed_by from gdn_swarm where deployed is not null');
  const [first] = (await json('store', 'token', 'list')) as { name: string }[];
  expect(deployed?.['deployed_by']).toBe(first?.name);

  await owner.query(`create role looker login password 'looker'`);
  try {
    const address = new URL(database.address);
    address.username = address.password = 'looker';
    const env = { GOONDAN_STORE: address.href, GOONDAN_CLUSTER_TOKEN: token };
    const refused = await place.runWith({ env }, 'ls', '--json');
    expect(JSON.parse(refused.stderr).error).toMatchObject({
      code: 'E_STORE_READ',
      message: expect.stringContaining('permission denied for table'),
      suggestion: expect.stringContaining('docs/clusters.md'),
    });
    await owner.query('grant select on all tables in schema public to looker');
    for (const line of [
      'ls',
      'nodes',
      'status',
      'instance list',
      'history host default',
      'trace last',
      'usage',
      'logs',
      'store status',
    ]) {
      const bundle = /^(?:ls|store)/.test(line) ? [] : ['--bundle', 'bundle'];
      expect({ line, ...(await place.runWith({ env }, ...line.split(' '), ...bundle)) }).toMatchObject({ exitCode: 0 });
    }
    const write = await place.runWith({ env }, 'store', 'token', 'add', 'eve', '--json');
    expect(JSON.parse(write.stderr).error).toMatchObject({
      code: 'E_STORE_WRITE',
      suggestion: expect.stringContaining('docs/clusters.md'),
    });
  } finally {
    await owner.query('drop owned by looker');
    await owner.query('drop role looker');
    await owner.close();
  }
});

test('a token that is too short, from GOONDAN_CLUSTER_TOKEN, is refused before it is stored', async () => {
  const made = await makeTestDatabase({ hasTables: false });
  const env = { GOONDAN_STORE: made.address, GOONDAN_CLUSTER_TOKEN: 'short' };
  const refused = await place.runWith({ env }, 'store', 'init', '--json');
  expect(refused.stderr).toContain('"E_CLUSTER_TOKEN"');
  const state = await place.runWith({ env }, 'store', 'status', '--json');
  expect(JSON.parse(state.stdout)).toMatchObject({ schema: 0 });
  const long = { ...env, GOONDAN_CLUSTER_TOKEN: 'x'.repeat(40) };
  const { stdout } = await place.runWith({ env: long }, 'store', 'init');
  expect(stdout).toContain('The token of GOONDAN_CLUSTER_TOKEN may operate its swarms');
  expect(stdout).not.toContain('xxxx');
  await made.drop();
});

test('Y-03 a turn in the store adds to the imported usage, and another import does not', async () => {
  const spent = async () => ((await json('usage', '--bundle', 'bundle')) as UsageReport).total;
  const before = await spent();
  const turn = (await json('run', 'bundle', '--trust', '--input', 'In the store')) as TurnReport;
  expect(turn.usage.totalTokens).toBeGreaterThan(0);
  expect(await gdn('store', 'import', 'bundle')).toMatchObject({ exitCode: 0 });
  const after = await spent();
  expect(after.calls).toBe(before.calls + 1);
  expect(after.usage.totalTokens).toBe(before.usage.totalTokens + turn.usage.totalTokens);
});

test('an imported swarm warns who goes on with the files, and says at the next import that they differ', async () => {
  expect(await gdn('run', 'bundle', '--trust', '--input', 'In the store')).toMatchObject({ exitCode: 0, stderr: '' });
  const again = await gdn('store', 'import', 'bundle');
  expect(again).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('; 2 were there already.\n') });
  const turn = await onFiles('run', 'bundle', '--trust', '--input', 'On files');
  expect(turn.exitCode).toBe(0);
  expect(turn.stderr).toMatch(
    /^warn: The conversations of this swarm were copied into the store [^ @]+:\d+\/\w+, and this command goes on with the files\./m,
  );
  const { stdout, stderr, exitCode } = await gdn('store', 'import', 'bundle');
  expect(exitCode).toBe(1);
  expect(stderr).toContain(
    'E_INSTANCE_EXISTS: The files and the database both have new turns of agent host, instance "default"',
  );
  expect(stdout).toContain('; 1 was there already.\n');
  expect(stdout).toContain('import them into an empty database');
});
