// Tests twenty secrets in a real swarm whose parts write everything they know. No secret appears on disk, in a model
// request, in printed output, or in the environment of a process that it was not declared for.
import { afterAll, beforeAll, describe, expect, test } from 'bun:test';
import { cpSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import { GdnPlace } from '../../packages/cli/src/testing/gdn-place.ts';
import { type Database, openDatabase } from '../../packages/postgres/src/driver/database.ts';
import { openEventSink } from '../../packages/postgres/src/store/event-sink.ts';
import { importFiles } from '../../packages/postgres/src/store/import-files.ts';
import { openLogSink } from '../../packages/postgres/src/store/log-sink.ts';
import { openTraceSink } from '../../packages/postgres/src/store/trace-sink.ts';
import { dumpDatabase } from '../../packages/postgres/src/testing/dump-database.ts';
import { makeTestDatabase } from '../../packages/postgres/src/testing/test-database.ts';
import { testInProof } from '../../packages/postgres/src/testing/with-postgres.ts';
import { openStoreReader } from '../../packages/runtime/src/history.ts';
import { connectSwarm, type SwarmNotice } from '../../packages/runtime/src/index.ts';
import { openaiWire } from '../../packages/runtime/src/agent/model/providers/wire/openai-wire.ts';
import { startWireServer } from '../../packages/runtime/src/agent/model/providers/wire/wire-server.ts';
import { canaries, type CanaryName, findCanaries, names } from './canaries.ts';
import { readProcesses } from './read-processes.ts';
import { until } from '../until.ts';

const place = new GdnPlace();
const model = startWireServer(openaiWire);
/** A server that answers with the request it got, including the headers. */
const echo = Bun.serve({
  hostname: '127.0.0.1',
  port: 0,
  fetch: (request) => Response.json({ headers: Object.fromEntries(request.headers) }),
});
const bundle = join(place.folder, 'bundle');
const { FROM_FILE, ...declared } = canaries;
const env = { ...declared, MODEL_ENDPOINT: model.url, GOONDAN_DEBUG: '' };
let swarm: ReturnType<GdnPlace['start']>;
const printed: string[] = [];

beforeAll(async () => {
  cpSync(join(import.meta.dir, 'bundle'), bundle, { recursive: true });
  await Bun.write(join(bundle, '.env'), `FROM_FILE=${FROM_FILE}\n`);
  swarm = place.startWith({ env }, 'run', bundle, '--trust');
  void keep(swarm.stdout);
  void keep(swarm.stderr);
  await until(async () => (await gdn('status', '--json')).stdout.includes('"running": true'));
}, 60_000);

afterAll(async () => {
  swarm.kill('SIGTERM');
  await swarm.exited;
  await Promise.all([model[Symbol.asyncDispose](), echo.stop(true)]);
  expect(await place.remove()).toEqual([]);
}, 60_000);

async function keep(stream: ReadableStream<Uint8Array>): Promise<void> {
  for await (const chunk of stream) printed.push(new TextDecoder().decode(chunk));
}

const gdn = async (command: string, ...args: string[]) => {
  const ended = await place.runWith({ env }, command, '--bundle', bundle, ...args);
  printed.push(ended.stdout, ended.stderr);
  return ended;
};

const usage = { input: 1, output: 1, cached: 0 };
let calls = 0;
const call = (name: string, args: JsonObject = {}) => ({
  reply: { calls: [{ id: `call-${++calls}`, name, args }], usage },
});
const say = (text: string) => ({ reply: { text: [text], usage } });

/** Lists all files under the state root, and the output files of commands, with the secrets they show. */
function findOnDisk(): { path: string; shows: CanaryName[] }[] {
  const spilled = readdirSync(tmpdir()).filter((name) => name.startsWith('goondan-bash-') && !name.includes('test'));
  return [place.stateRoot, ...spilled.map((name) => join(tmpdir(), name))]
    .flatMap((folder) => readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)))
    .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
    .map((path) => ({ path, shows: findCanaries(readIfThere(path)) }))
    .filter(({ shows }) => shows.length > 0);
}

/** Reads a file, if it still exists. If the file is replaced meanwhile, its content is found in the new file. */
function readIfThere(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return '';
    throw error;
  }
}

describe('twenty planted secrets', () => {
  test('are twenty', () => {
    expect(new Set(names).size).toBe(20);
  });

  test('show nowhere when every part writes what it knows', async () => {
    const command =
      'env; echo "$TOKEN"; tr "\\0" "\\n" < /proc/self/environ; echo "$TOKEN" > leaked.txt; seq 1 9000; echo "$TOKEN"';
    model.answer(
      call('leaky__give'),
      call('leaky-extension__tell'),
      call('bash__exec', { command, timeoutMs: 20_000 }),
      call('file-system__read', { path: 'leaked.txt' }),
      call('file-system__search', { pattern: 'can.ry' }),
      call('http-fetch__get', { url: `http://127.0.0.1:${echo.port}/` }),
      call('leaky__fail'),
      call('agents__request', { target: 'librarian', input: 'hello' }),
      say('done'),
    );
    const { exitCode, stdout } = await gdn(
      'send',
      '--wait',
      '--input',
      `My key is ${canaries.TOOL_KEY}, and ${canaries.AWKWARD}`,
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'done\n' });
    // The command worked: the secret is in the file where the bundle allows it, and nowhere else.
    expect(readFileSync(join(place.folder, 'leaked.txt'), 'utf8')).toBe(`${canaries.BASH_TOKEN}\n`);

    const asked = model.requests.map(({ body }) => JSON.stringify(body));
    expect(asked).toHaveLength(9);
    // The model got the whole output, with the secrets masked.
    const last = asked.at(-1) ?? '';
    for (const said of ['stdoutFile', 'leaked.txt', 'authorization', 'failed with', 'You said: hello', 'Remember']) {
      expect(last).toContain(said);
    }
    expect(last.split('***').length).toBeGreaterThan(20);
    expect(asked.flatMap(findCanaries)).toEqual([]);
    expect(model.requests[0]?.headers.get('authorization')).toBe(`Bearer ${canaries.MODEL_KEY}`);

    await until(async () => (await gdn('logs', '--last', '1000')).stdout.includes('printed by the connector'));
    await until(() => findFile('librarian~told', 'events.jsonl') !== undefined);
    await until(() => findFile('librarian~heard', 'events.jsonl') !== undefined);
    expect(findOnDisk()).toEqual([]);
    expect(printed.flatMap(findCanaries)).toEqual([]);
    // The checks above prove something only if the disk was not empty, so the log must contain these lines.
    const log = (await gdn('logs', '--last', '1000')).stdout;
    for (const who of ['extension', 'tool', 'connector']) expect(log).toContain(`printed by the ${who} `);
    expect(readFileSync(findFile('host~default', 'events.jsonl') ?? '', 'utf8')).toContain('***');
  }, 120_000);

  test('do not reach watchers when a model streams them in pieces', async () => {
    const workspaceId = readdirSync(join(place.stateRoot, 'workspaces'))[0] ?? '';
    const control = await connectSwarm({ stateRoot: place.stateRoot, workspaceId });
    const notices: SwarmNotice[] = [];
    const watch = await control.watch({ instanceKey: 'streamed' }, (notice) => void notices.push(notice));
    // The model writes all secrets of its own agent. No other secret can appear in this text.
    const told = [
      ...(['TOOL_KEY', 'EXTENSION_OVER', 'FROM_FILE', 'OF_LINES', 'AWKWARD'] as const).map((name) => canaries[name]),
      JSON.stringify({ of: canaries.OF_LINES, awkward: canaries.AWKWARD }),
      encodeURIComponent(canaries.AWKWARD),
    ];
    const pieces = told.flatMap((text) => ['It is ', ...(text.match(/[^]{1,3}/g) ?? []), '. ']);
    model.answer({ reply: { text: [...pieces, 'c'], usage } });
    const { exitCode, stdout } = await gdn('send', '--wait', '--instance', 'streamed', '--input', 'say it');
    await until(() => notices.some(({ type }) => type === 'turn.ended'));
    watch.end();
    const heard = notices.flatMap((notice) =>
      notice.type === 'delta' && notice.delta.type === 'text' ? [notice.delta.text] : [],
    );
    // The text was streamed, and only the secrets were masked.
    const said =
      'It is ***. It is ***. It is ***. It is ***. It is ***. It is {"of":"***","awkward":"***"}. It is ***. c';
    expect(heard.length).toBeGreaterThan(3 * told.length);
    expect(heard.join('')).toBe(said);
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: `${said}\n` });
    expect(findCanaries(JSON.stringify(notices))).toEqual([]);
  }, 60_000);

  test('are only in the environment of the processes they were declared for', async () => {
    const mark = `7${process.pid}.5`;
    model.answer(call('bash__exec', { command: `sleep ${mark}`, timeoutMs: 60_000 }), say('done'));
    await gdn('send', '--input', 'wait', '--instance', 'waiting');
    await until(() => readProcesses(swarm.pid).some(({ command }) => command.startsWith(`sleep ${mark}`)));
    const found = new Map<string, Set<string>>();
    for (const { command, environment, isOperators } of readProcesses(swarm.pid)) {
      if (isOperators) continue;
      const kind = environment.includes('GOONDAN_COMMAND=') ? 'a command of bash' : 'a child';
      const key = `${kind}: ${findCanaries(environment).join(' ')}`;
      found.set(key, (found.get(key) ?? new Set()).add(command));
    }
    expect([...found.keys()].filter((key) => !allowed.includes(key))).toEqual([]);
    for (const key of ['a command of bash: BASH_TOKEN', 'a child: AGENT_VARIABLE', 'a child: CONNECTION_VARIABLE']) {
      expect(found.has(key)).toBe(true);
    }
    // When the turn is cancelled, the command ends, too.
    await gdn('cancel', '--instance', 'waiting');
    await until(() => readProcesses(swarm.pid).every(({ command }) => !command.includes(mark)));
  }, 120_000);

  // In `npm test`, database-secrets.process.test.ts has the same rule for a swarm that runs on the database.
  testInProof(
    'S-06 are not in the database to which the swarm is moved, nor in records that come there from its processes',
    async () => {
      await gdn('stop');
      await swarm.exited;
      const made = await makeTestDatabase();
      const database = openDatabase(made.address);
      try {
        const files = {
          stateRoot: place.stateRoot,
          workspaceId: readdirSync(join(place.stateRoot, 'workspaces'))[0] ?? '',
        };
        const { imported, traces, problems } = await importFiles(files, database, 'secrets');
        expect(problems).toEqual([]);
        expect(imported).toBeGreaterThan(3);
        expect(traces).toBeGreaterThan(3);
        await passRecords(files, database);
        const dump = await dumpDatabase(database);
        // The dump has the lines in which the secrets were masked.
        for (const text of ['printed by the tool ', 'You said: hello', '"type":"chain"', '***'])
          expect(dump).toContain(text);
        expect(findCanaries(dump)).toEqual([]);
        // The search would find a secret in a compressed chunk.
        const sink = openLogSink(database, 'secrets', 'one', { report: () => undefined });
        sink.write({ time: new Date().toISOString(), level: 'info', message: canaries.TOOL_KEY });
        await sink.close();
        expect(findCanaries(await dumpDatabase(database))).toEqual(['TOOL_KEY']);
      } finally {
        await database.close();
        await made.drop();
      }
    },
    120_000,
  );
});

/** Passes the lines that the processes of the swarm have written through the sinks of a node. */
async function passRecords(files: { stateRoot: string; workspaceId: string }, database: Database): Promise<void> {
  const report = (problem: string) => expect(problem).toBe('');
  const instance = { agentName: 'host', instanceKey: 'default' };
  const logs = openLogSink(database, 'sinks', 'one', { report });
  const lines = await openStoreReader(files).logs.read({ last: 1000 });
  for (const line of lines) logs.write(line);
  await logs.close();
  const workspace = join(files.stateRoot, 'workspaces', files.workspaceId);
  const linesIn = (folder: string, stem: string) =>
    readdirSync(join(workspace, folder))
      .filter((name) => name.startsWith(stem))
      .flatMap((name) => readFileSync(join(workspace, folder, name), 'utf8').split('\n'))
      .filter((line) => line !== '');
  const traces = openTraceSink(database, 'sinks', { report });
  const turn = { turnId: 'turn', traceId: 'trace', startedAt: new Date(0) };
  const written = linesIn('traces', 'traces.').map((line) => ({ turn, isNeeded: true, text: () => line }));
  await (await traces.open(instance)).append(written);
  await traces.close();
  const events = openEventSink(database, 'sinks', { report });
  const happened = linesIn('logs', 'runtime-events').map((line) => JSON.parse(line) as JsonObject);
  await (await events.open(instance)).append(happened);
  await events.close();
  expect([lines.length, written.length, happened.length].every((count) => count > 5)).toBe(true);
}

const allowed = [
  'a command of bash: BASH_TOKEN',
  'a child: AGENT_VARIABLE',
  'a child: OTHER_AGENT_VARIABLE',
  'a child: CONNECTION_VARIABLE',
  // The guardian process and the spare process get no secret.
  'a child: ',
];

function findFile(folder: string, name: string): string | undefined {
  return readdirSync(place.stateRoot, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.includes(folder) && path.endsWith(name))
    .map((path) => join(place.stateRoot, path))[0];
}
