// Tests the data that a page of Studio reads, and the actions it takes, over real HTTP, with a real swarm.
import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test';
import { mkdirSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startSwarm, type Swarm } from '@goondan/runtime';
import { controlSocketPath, systemSocketEnvironment } from '@goondan/runtime/control';
import { deleteStoppedInstance, forkStoppedInstance, workspaceFolder, systemClock } from '@goondan/runtime/internal';
import { textOf } from '@goondan/types';
import { serveControl } from '../../../../runtime/src/orchestrator/control/serve-control.ts';
import { RUN_VARIABLE } from '../../../../runtime/src/orchestrator/guardian/process-tag.ts';
import { systemFs } from '../../../../runtime/src/ports/fs.ts';
import { systemProcesses } from '../../../../runtime/src/ports/processes.ts';
import {
  fakeGrant,
  fakeQuestion,
  type FakeControl,
  fakeControl,
} from '../../../../runtime/src/testing/fake-control.ts';
import { QuestionFile } from '../../../../runtime/src/workspace/questions/question-file.ts';
import { commitChangeset } from '../../testing/commit-changeset.ts';
import { GdnPlace } from '../../testing/gdn-place.ts';
import { sampleBundle } from '../../testing/sample-bundle.ts';
import { StudioPlace } from '../../testing/studio-place.ts';
import type {
  Acceptance,
  CheckedAnswer,
  ChangesetWithDiff,
  ConversationView,
  Done,
  FileView,
  HistoryView,
  PromptView,
  Refusal,
  TimelineView,
  TraceView,
  TurnList,
  WorkspaceList,
  WorkspaceView,
} from '../contract.ts';
import { until } from '../../../../../test/until.ts';

// This timeout is long, because processes start on a machine that may be busy.
setDefaultTimeout(120_000);

let place: StudioPlace;
const cleanups: (() => unknown)[] = [];
beforeEach(async () => {
  place = new StudioPlace({ nameOfPerson: () => 'ann' });
  await place.enter();
});
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup();
  await place.remove();
});

const at = 'agent=clerk&instanceKey=default';
const shop = '/api/workspaces/shop';
const person = { by: 'ann', via: 'studio' };

async function startShop(): Promise<Swarm> {
  const rules = [{ when: '^fail', fail: { message: 'No.' } }, { say: 'You said: {{input}}' }];
  const script = { script: rules, tokensPerSecond: 500 };
  const models = { 'Model/scripted': { provider: 'scripted', model: 'test', options: script } };
  const agents = [{ agentName: 'clerk', models }];
  const swarm = await startSwarm({ name: 'shop', workspace: 'shop', agents, stateRoot: place.stateRoot });
  cleanups.push(() => swarm.stop({ graceMs: 0 }));
  return swarm;
}

/** Sends a request that is refused. */
async function refusalOf(path: string, body?: unknown): Promise<(number | string)[]> {
  const response = await place.ask(path, { body });
  const { error } = (await response.json()) as Refusal;
  return [response.status, error.code];
}

/** Serves a fake swarm on the control socket of the workspace. */
async function serveFake(workspaceId: string): Promise<FakeControl> {
  const folder = workspaceFolder(place.stateRoot, workspaceId);
  mkdirSync(join(folder, 'instances'), { recursive: true, mode: 0o700 });
  const swarm = fakeControl();
  const path = controlSocketPath(folder, workspaceId, systemSocketEnvironment());
  const server = await serveControl(swarm, { path });
  cleanups.push(() => server.close());
  return swarm;
}

describe('an empty state root', () => {
  test('has no workspaces, and finds none', async () => {
    expect(await place.read<WorkspaceList>('/api/workspaces')).toEqual({ workspaces: [], version: '9.9.9' });
    expect(await refusalOf(shop)).toEqual([404, 'E_WORKSPACE_UNKNOWN']);
    expect(readdirSync(place.stateRoot)).toEqual([]);
  });

  test('may also not exist yet', async () => {
    rmSync(place.stateRoot, { recursive: true });
    expect(await place.read<WorkspaceList>('/api/workspaces')).toMatchObject({ workspaces: [] });
  });
});

describe('a running swarm', () => {
  test('gets an input, streams, and ends; everything can be read', async () => {
    await startShop();
    const stream = place.watch('shop');
    await until(() => stream.notices.length > 0);
    expect(stream.notices[0]).toEqual({ type: 'swarm', isRunning: true });

    const body = { agent: 'clerk', instanceKey: 'default', input: 'Good morning, all of you' };
    const accepted = await place.read<Acceptance>(`${shop}/send`, { body });
    expect(accepted).toMatchObject({ accepted: true, agent: 'clerk', instanceKey: 'default', duplicate: false });
    await until(() => stream.notices.some(({ type }) => type === 'turn.ended'));
    const said = stream.notices.flatMap((each) => (each.type === 'delta' ? [each.delta] : []));
    const text = said.map((delta) => ('text' in delta ? delta.text : '')).join('');
    expect(text).toBe('You said: Good morning, all of you');
    expect(said.length).toBeGreaterThan(1);
    stream.leave();
    await until(() => place.studio.streams === 0);

    const { workspaces } = await place.read<WorkspaceList>('/api/workspaces');
    expect(workspaces).toEqual([
      { workspaceId: 'shop', swarm: 'shop', isRunning: true, instances: 1, updatedAt: expect.any(String) },
    ]);
    const view = await place.read<WorkspaceView>(shop);
    expect(view).toMatchObject({
      workspaceId: 'shop',
      isRunning: true,
      pid: process.pid,
      entryAgent: 'clerk',
      agents: [{ name: 'clerk', tools: [], extensions: [], layers: [] }],
      conversations: [{ agent: 'clerk', instanceKey: 'default', status: 'idle', messages: 2, queued: 0, crashes: 0 }],
    });
    expect(view).not.toHaveProperty('startCommand');

    const conversation = await place.read<ConversationView>(`${shop}/conversation?${at}`);
    expect({ ...conversation, messages: conversation.messages.map(({ seq, author }) => [seq, author.kind]) }).toEqual({
      ...{ seq: 2, first: 1, last: 2, earlier: 0 },
      messages: [
        [1, 'input'],
        [2, 'model'],
      ],
    });
    const earlier = await place.read<ConversationView>(`${shop}/conversation?${at}&at=1`);
    expect({ seq: earlier.seq, last: earlier.last, messages: earlier.messages.length }).toEqual({
      ...{ seq: 1, last: 2, messages: 1 },
    });
    const newest = await place.read<ConversationView>(`${shop}/conversation?${at}&last=1`);
    expect([newest.earlier, newest.messages.map(({ seq }) => seq)]).toEqual([1, [2]]);

    expect(await place.read<TimelineView>(`${shop}/timeline?${at}`)).toMatchObject({
      ...{ first: 1, last: 2, from: 1, authors: 'im' },
      turns: [{ turnId: accepted.turnId, from: 1, to: 2, result: 'completed' }],
    });
    const history = await place.read<HistoryView>(`${shop}/history?${at}&limit=1`);
    expect(history.turns.flatMap(({ events }) => events.map(({ seq }) => seq))).toEqual([2]);
    // Waits, because the trace of a turn is written shortly after its end.
    await until(async () => (await place.read<TurnList>(`${shop}/turns?last=5`)).turns[0]?.stepCount === 1);
    const { turns } = await place.read<TurnList>(`${shop}/turns?agent=clerk&instanceKey=default`);
    expect(turns).toMatchObject([{ turnId: accepted.turnId, agentName: 'clerk', finishReason: 'text_response' }]);
    const trace = await place.read<TraceView>(`${shop}/trace?id=${accepted.turnId}`);
    expect(trace).toMatchObject({ traceId: accepted.traceId, turns: [{ turnId: accepted.turnId }] });
    const [model] = trace.turns[0]?.chain.inside[0]?.inside ?? [];
    expect(model).toMatchObject({ kind: 'model', effect: '0/model', request: { provider: 'scripted' } });
    expect([model?.request?.parts, model?.request?.references, model?.reply]).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
    const prompt = await place.read<PromptView>(`${shop}/prompt?id=${accepted.turnId}&effect=0/model`);
    expect(prompt).toMatchObject({ isExact: true, provider: 'scripted', reply: { finishReason: 'stop' } });
    expect(prompt.messages.at(-1)).toEqual({
      role: 'user',
      author: 'person via studio',
      text: 'Good morning, all of you',
    });
  });

  test('may stop and start again while a stream is open, and the stream reports it', async () => {
    const swarm = await startShop();
    const stream = place.watch('shop');
    const states = () => stream.notices.flatMap((each) => (each.type === 'swarm' ? [each.isRunning] : []));
    await until(() => states().length === 1);
    await swarm.stop();
    // The swarm starts again before Studio's next check.
    const again = await startShop();
    await until(() => states().length === 3);
    expect(states()).toEqual([true, false, true]);
    const { result } = await again.ask({ input: 'hello' });
    expect(textOf(result.responseMessage)).toBe('You said: hello');
    await until(() => stream.notices.some(({ type }) => type === 'turn.ended'));
    stream.leave();
    await until(() => place.studio.streams === 0);
  });
});

describe('changes of conversations', () => {
  const copy = { agentName: 'clerk', instanceKey: 'copy' };

  test('are reported by the running swarm', async () => {
    const swarm = await startShop();
    await swarm.ask({ input: 'hello' });
    const stream = place.watch('shop');
    await until(() => stream.notices.length > 0);
    await swarm.forkInstance({ agent: 'clerk', instanceKey: 'default', as: 'copy' });
    await swarm.deleteInstance({ agent: 'clerk', instanceKey: 'copy' });
    await until(() => stream.notices.filter(({ type }) => type === 'instance').length === 2);
    expect(stream.notices.flatMap((each) => (each.type === 'instance' ? [each.change] : []))).toEqual([
      'forked',
      'deleted',
    ]);
    stream.leave();
  });

  test('are seen on the disk of a swarm that does not run', async () => {
    const swarm = await startShop();
    await swarm.ask({ input: 'hello' });
    await swarm.stop();
    const stream = place.watch('shop');
    const seen = () => stream.notices.filter(({ type }) => type === 'conversations').length;
    await until(() => stream.notices.length > 0);
    const stopped = { stateRoot: place.stateRoot, workspaceId: 'shop', swarm: 'shop', warn: () => undefined };
    await forkStoppedInstance(stopped, { ...copy, instanceKey: 'default' }, { as: 'copy' });
    await until(() => seen() === 1);
    await deleteStoppedInstance(stopped, copy);
    await until(() => seen() >= 2);
    stream.leave();
  });
});

test('a conversation is marked while its last turn is one that failed', async () => {
  const swarm = await startShop();
  for (const input of ['hello', 'fail']) await swarm.ask({ input });
  for (const input of ['fail', 'hello']) await swarm.ask({ input, instanceKey: 'mended' });
  await swarm.stop();
  const { conversations } = await place.read<WorkspaceView>(shop);
  expect(conversations.map(({ instanceKey, failed }) => [instanceKey, failed])).toEqual([
    ['mended', undefined],
    ['default', true],
  ]);
  // Nothing else of the workspace needs its traces.
  const file = join(place.stateRoot, 'workspaces/shop/traces/traces.000001.jsonl');
  rmSync(file);
  mkdirSync(file);
  expect((await place.read<WorkspaceView>(shop)).conversations).toHaveLength(2);
});

describe('a swarm that does not run', () => {
  test('can be read completely, and accepts nothing', async () => {
    const swarm = await startShop();
    await swarm.ask({ input: 'hello' });
    await swarm.stop();
    expect(await place.read<WorkspaceList>('/api/workspaces')).toMatchObject({
      workspaces: [{ workspaceId: 'shop', swarm: 'shop', isRunning: false, instances: 1 }],
    });
    expect(await place.read<WorkspaceView>(shop)).toMatchObject({
      swarm: 'shop',
      isRunning: false,
      agents: [{ name: 'clerk' }],
      conversations: [{ agent: 'clerk', instanceKey: 'default', status: 'asleep', messages: 2 }],
    });
    expect(await place.read<ConversationView>(`${shop}/conversation?${at}`)).toMatchObject({ last: 2 });
    const stream = place.watch('shop');
    await until(() => stream.notices.length > 0);
    expect(stream.notices).toEqual([{ type: 'swarm', isRunning: false }]);
    stream.leave();
    const body = { agent: 'clerk', instanceKey: 'default', input: 'hi' };
    expect(await refusalOf(`${shop}/send`, body)).toEqual([503, 'E_CONTROL_CLOSED']);
  });

  test('has a start command when it is the opened one, and is listed before its first turn', async () => {
    const bundle = new GdnPlace();
    cleanups.push(() => bundle.remove());
    const folder = await bundle.write('bundle', {
      'goondan.yaml': sampleBundle({ agents: ['helper'], agent: 'tools: [Tool/agents]' }),
    });
    const { openSwarm } = await import('../opened-swarm.ts');
    let now = 0;
    const opened = await openSwarm({ bundle: folder }, () => undefined, { ...systemClock, elapsed: () => now });
    if (opened === undefined) throw new Error('It was not opened.');
    const own = new StudioPlace({ opened, stateRoot: place.stateRoot });
    cleanups.push(() => own.remove());
    await own.enter();
    const { workspaceId } = opened;
    expect(await own.read<WorkspaceList>('/api/workspaces')).toEqual({
      workspaces: [],
      opened: { workspaceId, swarm: 'default' },
      version: '9.9.9',
    });
    const startCommand = `gdn run ${folder} --detach`;
    expect(await own.read<WorkspaceView>(`/api/workspaces/${workspaceId}`)).toMatchObject({
      ...{ workspaceId, swarm: 'default', isRunning: false, instances: 0, entryAgent: 'host', startCommand },
      agents: [
        { name: 'host', model: 'Model/scripted', mayAsk: ['helper'] },
        { name: 'helper', model: 'Model/scripted', mayAsk: [], tools: [], layers: [] },
      ],
    });
    const refused = await own.read<Refusal>(`/api/workspaces/${workspaceId}/send`, {
      body: { agent: 'host', instanceKey: 'default', input: 'hi' },
    });
    expect(refused.error).toMatchObject({
      code: 'E_CONTROL_CLOSED',
      suggestion: `Start it with \`${startCommand}\`, then try again.`,
    });
    expect(readdirSync(place.stateRoot)).toEqual([]);
    mkdirSync(join(workspaceFolder(place.stateRoot, workspaceId), 'logs'), { recursive: true });
    const { workspaces } = await own.read<WorkspaceList>('/api/workspaces');
    expect(workspaces).toEqual([{ workspaceId, swarm: 'default', isRunning: false, instances: 0 }]);
    // The hint for another workspace comes from the record of its last swarm.
    mkdirSync(workspaceFolder(place.stateRoot, 'night'));
    const record = JSON.stringify({ swarm: 'night', folder });
    writeFileSync(join(workspaceFolder(place.stateRoot, 'night'), 'swarm.json'), record);
    expect(await own.read<WorkspaceView>('/api/workspaces/night')).toMatchObject({
      startCommand: `gdn run ${folder} --swarm night --state-root ${place.stateRoot} --detach`,
    });
    // Studio reads the bundle again after a while. An invalid bundle declares no agents, but everything else is still
    // shown.
    writeFileSync(join(folder, 'goondan.yaml'), 'kind: [');
    const look = () => own.read<WorkspaceView>(`/api/workspaces/${workspaceId}`);
    expect((await look()).agents).toHaveLength(2);
    now += 60_000;
    await until(async () => (await look()).agents.length === 0);
    expect(await look()).toMatchObject({ agents: [], startCommand });
  });
});

describe('a damaged conversation', () => {
  test('shows its problem, and all others are listed', async () => {
    const swarm = await startShop();
    await swarm.ask({ input: 'one' });
    await swarm.ask({ input: 'two', instanceKey: 'second' });
    await swarm.stop();
    const folder = join(workspaceFolder(place.stateRoot, 'shop'), 'instances/clerk~second');
    writeFileSync(join(folder, 'messages/events.jsonl'), 'nonsense\n');
    truncateSync(join(folder, 'metadata.json'), 5);
    mkdirSync(join(folder, '../clerk~third'));
    writeFileSync(join(folder, '../clerk~third/metadata.json'), 'nonsense');
    for (const _ of [1, 2]) {
      const { conversations, instances } = await place.read<WorkspaceView>(shop);
      expect(instances).toBe(3);
      expect(
        Object.fromEntries(conversations.map(({ instanceKey, problem }) => [instanceKey, problem?.split(':')[0]])),
      ).toEqual({
        default: undefined,
        second: 'E_STORE_CORRUPT',
        third: 'E_STORE_CORRUPT',
      });
    }
    for (const what of ['conversation', 'timeline'])
      expect(await refusalOf(`${shop}/${what}?agent=clerk&instanceKey=second`)).toEqual([500, 'E_STORE_CORRUPT']);
    expect(await place.read<ConversationView>(`${shop}/conversation?${at}`)).toMatchObject({ last: 2 });
    expect(await place.read<WorkspaceList>('/api/workspaces')).toMatchObject({ workspaces: [{ instances: 3 }] });
  });
});

test('the changesets of a swarm are listed, and each can be read with its diff', async () => {
  const workspace = workspaceFolder(place.stateRoot, 'shop');
  mkdirSync(join(workspace, 'instances'), { recursive: true, mode: 0o700 });
  const bundle = new GdnPlace();
  cleanups.push(() => bundle.remove());
  const bundleFolder = await bundle.write('shop', { 'clerk.md': 'old\n' });
  const record = { swarm: 'default', folder: bundleFolder };
  writeFileSync(join(workspace, 'swarm.json'), JSON.stringify(record));
  expect(await place.read<WorkspaceView>(shop)).not.toHaveProperty('changesets');

  const { id } = await commitChangeset({ stateRoot: place.stateRoot, bundleFolder }, { 'clerk.md': 'new\n' });
  const { changesets } = await place.read<WorkspaceView>(shop);
  expect(changesets).toMatchObject([
    { id, state: 'committed', agent: 'host', approvedBy: 'alice', files: [{ path: 'clerk.md', change: 'changed' }] },
  ]);
  expect(await place.read<ChangesetWithDiff>(`${shop}/changeset?id=${id}`)).toMatchObject({
    id,
    files: [{ path: 'clerk.md', diff: expect.stringContaining('-old\n+new\n') }],
  });
  const ask = (query: string) => refusalOf(`${shop}/changeset${query}`);
  const unknown = [404, 'E_CHANGESET_UNKNOWN'];
  expect(await ask('?id=nothing')).toEqual(unknown);
  expect(await ask('')).toEqual([400, 'E_STUDIO_REQUEST']);
  writeFileSync(join(workspace, 'swarm.json'), JSON.stringify({ ...record, swarm: 'another' }));
  expect(await place.read<WorkspaceView>(shop)).not.toHaveProperty('changesets');
  expect(await ask(`?id=${id}`)).toEqual(unknown);
  rmSync(join(workspace, 'swarm.json'));
  expect(await ask(`?id=${id}`)).toEqual(unknown);
});

test('unknown and malformed requests are rejected with a code', async () => {
  const swarm = await startShop();
  await swarm.ask({ input: 'hello' });
  const cases: [string, number, string][] = [
    ['conversation?agent=clerk', 400, 'E_STUDIO_REQUEST'],
    ['conversation', 400, 'E_STUDIO_REQUEST'],
    ['conversation?agent=clerk&instanceKey=default&at=-1', 400, 'E_STUDIO_REQUEST'],
    ['conversation?agent=clerk&instanceKey=default&at=9', 404, 'E_HISTORY_RANGE'],
    ['conversation?agent=clerk&instanceKey=default&last=1001', 400, 'E_STUDIO_REQUEST'],
    ['conversation?agent=clerk&instanceKey=default&last=0', 400, 'E_STUDIO_REQUEST'],
    ['conversation?agent=clerk&instanceKey=default&agent=x', 400, 'E_STUDIO_REQUEST'],
    ['conversation?agent=clerk&instanceKey=default&__proto__=x', 400, 'E_STUDIO_REQUEST'],
    ['conversation?agent=clerk&instanceKey=other', 404, 'E_INSTANCE_UNKNOWN'],
    ['timeline?agent=..%2F..&instanceKey=default', 404, 'E_INSTANCE_UNKNOWN'],
    ['history?agent=nobody&instanceKey=default', 404, 'E_INSTANCE_UNKNOWN'],
    ['trace', 400, 'E_STUDIO_REQUEST'],
    ['trace?id=nothing', 404, 'E_TRACE_UNKNOWN'],
    ['file', 400, 'E_STUDIO_REQUEST'],
    ['file?digest=..%2F..%2Fswarm.json', 400, 'E_STUDIO_REQUEST'],
    [`file?digest=${'a'.repeat(64)}`, 404, 'E_FILE_UNKNOWN'],
    ['prompt?id=nothing', 400, 'E_STUDIO_REQUEST'],
    ['prompt?id=nothing&effect=0/model', 404, 'E_TRACE_UNKNOWN'],
    ['nothing', 404, 'E_STUDIO_REQUEST'],
    ['constructor', 404, 'E_STUDIO_REQUEST'],
  ];
  for (const [what, status, code] of cases) {
    expect([what, ...(await refusalOf(`${shop}/${what}`))]).toEqual([what, status, code]);
  }
});

describe('the actions of a person', () => {
  test('Y-02 send images and files, and the page reads them by their digest', async () => {
    const swarm = await startShop();
    const limit = 20 * 1_024 * 1_024;
    const send = (bytes: Buffer) => {
      const content = [{ type: 'file', data: bytes.toString('base64'), filename: 'big.bin' }];
      return place.ask(`${shop}/send`, { body: { agent: 'clerk', instanceKey: 'files', input: 'look', content } });
    };
    const bytes = Buffer.alloc(limit, 'bytes ');
    expect((await send(bytes)).status).toBe(200);
    const refused = await send(Buffer.alloc(limit + 1));
    expect([refused.status, ((await refused.json()) as Refusal).error.code]).toEqual([413, 'E_FILE_SIZE']);
    await swarm.ask({ input: 'wait for the turn before', instanceKey: 'files' });
    const { messages } = await place.read<ConversationView>(`${shop}/conversation?agent=clerk&instanceKey=files`);
    const { content } = messages[0]?.message.data ?? { content: '' };
    const part = typeof content === 'string' ? undefined : content.find(({ type }) => type === 'file');
    const digest = part?.type === 'file' ? part.data.replace('blob:sha256-', '') : '';
    const file = await place.read<FileView>(`${shop}/file?digest=${digest}`);
    expect([file.size, Buffer.from(file.data, 'base64').equals(bytes)]).toEqual([limit, true]);
  });

  test('N-04 reach the swarm unchanged, with Studio as the door and its user as the person', async () => {
    const swarm = await serveFake('fake');
    const post = (what: string, body: unknown) => place.read<Done>(`/api/workspaces/fake/${what}`, { body });
    const whom = { agent: 'entry', instanceKey: 'default' };
    const { id, digest } = fakeQuestion;
    expect(await post('send', { ...whom, input: 'Hi' })).toMatchObject({ accepted: true });
    expect(await post('cancel', whom)).toEqual({ done: false });
    expect(await post('cancel', { ...whom, turnId: 'turn-e' })).toEqual({ done: false });
    const edited = { id, digest, decision: 'approved', args: { command: 'npm pack' }, always: 'arguments' };
    expect(await post('answer', edited)).toEqual({ done: true });
    expect(await post('answer', { id, digest, decision: 'denied', note: 'No.' })).toEqual({ done: true });
    expect(await post('revoke', { id: fakeGrant.id })).toEqual({ done: true });
    expect(await post('dead-letter', { ...whom, eventId: 'dead', action: 'retry' })).toEqual({ done: true });
    expect(await post('dead-letter', { ...whom, eventId: 'dead', action: 'drop' })).toEqual({ done: true });
    const address = { agent: 'entry', instanceKey: 'default' };
    expect(swarm.calls.filter(([name]) => name !== 'status')).toEqual([
      ['deliver', { agent: 'entry', instanceKey: 'default', input: 'Hi', client: 'studio' }],
      ['cancel', { agent: 'entry', instanceKey: 'default' }],
      ['cancel', { agent: 'entry', instanceKey: 'default', eventId: 'e' }],
      ['answer', { ...edited, ...person }],
      ['answer', { id, digest, decision: 'denied', note: 'No.', ...person }],
      ['revoke', { id: fakeGrant.id, ...person }],
      ['retryDeadLetter', { ...address, eventId: 'dead' }],
      ['dropDeadLetter', { ...address, eventId: 'dead' }],
    ]);
    const view = await place.read<WorkspaceView>('/api/workspaces/fake');
    expect(view).toMatchObject({ questions: [{ id }], grants: [fakeGrant], deadLetters: [{ eventId: 'dead' }] });
  });

  test('N-04 an answer that is unknown, to another question, or does not fit is refused with its code', async () => {
    await serveFake('fake');
    const { id, digest } = fakeQuestion;
    const cases: [string, object, number, string][] = [
      ['answer', { id: 'gone', digest, decision: 'approved' }, 404, 'E_QUESTION_UNKNOWN'],
      ['answer', { id, digest: 'other', decision: 'approved' }, 409, 'E_QUESTION_CHANGED'],
      ['answer', { id, digest, decision: 'denied', always: 'tool' }, 400, 'E_QUESTION_REPLY'],
      ['check', { id: 'gone', digest, decision: 'approved' }, 404, 'E_QUESTION_UNKNOWN'],
      ['check', { id, digest: 'other', decision: 'approved' }, 409, 'E_QUESTION_CHANGED'],
      ['check', { id, digest, decision: 'approved', content: {} }, 400, 'E_QUESTION_REPLY'],
      ['revoke', { id: 'gone' }, 404, 'E_QUESTION_UNKNOWN'],
    ];
    for (const [what, body, status, code] of cases) {
      expect([what, ...(await refusalOf(`/api/workspaces/fake/${what}`, body))]).toEqual([what, status, code]);
    }
  });

  test('questions of a stopped swarm are shown, and answered from disk once', async () => {
    await (await startShop()).stop({ graceMs: 0 });
    const ports = { fs: systemFs, clock: systemClock, processes: systemProcesses, warn: () => undefined };
    const open = () => QuestionFile.open(ports, { stateRoot: place.stateRoot, workspaceId: 'shop' });
    const question = { ...fakeQuestion, expiresAt: new Date(Date.now() + 60_000).toISOString() };
    const file = await open();
    await file.put({ ...question, key: 'k' });
    await file.close();
    expect((await place.read<WorkspaceView>(shop)).questions).toEqual([question]);
    const body = { id: question.id, digest: question.digest, decision: 'approved', always: 'tool' };
    expect(await place.read<CheckedAnswer>(`${shop}/check`, { body })).toEqual({ diff: '' });
    expect(await place.read<Done>(`${shop}/answer`, { body })).toEqual({ done: true });
    expect(await place.read<Refusal>(`${shop}/answer`, { body })).toMatchObject({
      error: { code: 'E_QUESTION_ENDED' },
    });
    const view = await place.read<WorkspaceView>(shop);
    expect(view).toMatchObject({ isRunning: false, questions: [], grants: [{ id: question.id, ...person }] });
    expect(await place.read<Done>(`${shop}/revoke`, { body: { id: question.id } })).toEqual({ done: true });
    const after = await open();
    expect(await after.list()).toEqual([]);
    await after.close();
  });

  test('a check shows the difference of edited arguments, and answers nothing', async () => {
    const swarm = await serveFake('fake');
    const { id, digest } = fakeQuestion;
    const check = (args: object) =>
      place.read<CheckedAnswer>('/api/workspaces/fake/check', { body: { id, digest, decision: 'approved', args } });
    const { diff } = await check({ command: 'npm pack' });
    expect(diff).toContain('-  "command": "npm publish"\n+  "command": "npm pack"\n');
    expect(await check(fakeQuestion.args)).toEqual({ diff: '' });
    expect(swarm.calls.some(([name]) => name === 'answer')).toBe(false);
  });

  test('N-04 a Studio that an agent started answers and revokes nothing', async () => {
    const swarm = await serveFake('fake');
    process.env[RUN_VARIABLE] = 'run';
    cleanups.push(() => delete process.env[RUN_VARIABLE]);
    const { id, digest } = fakeQuestion;
    for (const [what, body] of [
      ['answer', { id, digest, decision: 'approved' }],
      ['revoke', { id: fakeGrant.id }],
    ] as const) {
      expect(await refusalOf(`/api/workspaces/fake/${what}`, body)).toEqual([403, 'E_APPROVAL_BELOW_AGENT']);
    }
    expect(swarm.calls).toEqual([]);
  });

  const whom = { agent: 'clerk', instanceKey: 'default' };
  test('a body of another shape is rejected, and does not reach the swarm', async () => {
    const swarm = await serveFake('fake');
    const cases: [string, unknown, number][] = [
      ['send', '{', 400],
      ['send', '[]', 400],
      ['send', 'null', 400],
      ['send', whom, 400],
      ['send', { ...whom, input: 1 }, 400],
      ['send', { ...whom, input: 'x', more: 1 }, 400],
      ['send', { agent: '', instanceKey: 'default', input: 'x' }, 400],
      ['send', { agent: 'x'.repeat(4_097), instanceKey: 'default', input: 'x' }, 400],
      ['send', JSON.stringify({ ...whom, input: 'x'.repeat(1_000_001) }), 413],
      ['cancel', { agent: 'clerk' }, 400],
      ['answer', { id: 'x', digest: 'd', decision: 'perhaps' }, 400],
      ['answer', { id: 'x', decision: 'approved' }, 400],
      ['answer', { id: 'x', digest: 'd', decision: 'approved', by: 'somebody' }, 400],
      ['answer', { id: 'x', digest: 'd', decision: 'approved', via: 'chat' }, 400],
      ['check', { id: 'x', digest: 'd', decision: 'approved', args: [] }, 400],
      ['revoke', { id: 'x', by: 'somebody' }, 400],
      ['dead-letter', { ...whom, eventId: 'x', action: 'toString' }, 400],
    ];
    for (const [what, body, status] of cases) {
      const refused = await refusalOf(`/api/workspaces/fake/${what}`, body);
      expect(refused, JSON.stringify(body).slice(0, 80)).toEqual([status, 'E_STUDIO_REQUEST']);
    }
    expect(swarm.calls).toEqual([]);
  });

  test('a body with another type than JSON is rejected, as the form of another page would be', async () => {
    const swarm = await serveFake('fake');
    for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'multipart/form-data; boundary=x']) {
      const body = JSON.stringify({ ...whom, input: 'x' });
      const response = await place.ask('/api/workspaces/fake/send', { body, headers: { 'Content-Type': type } });
      expect(response.status).toBe(415);
    }
    expect(swarm.calls).toEqual([]);
  });

  test('a body that exceeds the limit while it is read is rejected, too', async () => {
    await serveFake('fake');
    const piece = 'x'.repeat(100_000);
    const body = new ReadableStream({
      start(controller) {
        for (let sent = 0; sent < 20; sent += 1) controller.enqueue(new TextEncoder().encode(piece));
        controller.close();
      },
    });
    const headers = { Cookie: place.cookie, Origin: place.origin, 'Content-Type': 'application/json' };
    const url = `${place.origin}/api/workspaces/fake/cancel`;
    expect((await fetch(url, { method: 'POST', headers, body })).status).toBe(413);
  });

  test('an error of the swarm arrives with its code', async () => {
    await startShop();
    const body = { agent: 'nobody', instanceKey: 'default', input: 'hi' };
    expect(await refusalOf(`${shop}/send`, body)).toEqual([404, 'E_AGENT_UNKNOWN']);
  });
});

describe('streams', () => {
  test('at most 64 are open; one more is refused, until one is closed', async () => {
    await serveFake('fake');
    const streams = Array.from({ length: 64 }, () => place.watch('fake'));
    await until(() => streams.every(({ notices }) => notices.length > 0));
    expect(place.studio.streams).toBe(64);
    const refused = place.watch('fake');
    expect(await refused.closed).toBe('Studio is open in 64 windows, which is the limit: close some.');
    expect(refused.notices).toEqual([]);
    streams[0]?.leave();
    await until(() => place.studio.streams === 63);
    const next = place.watch('fake');
    await until(() => next.notices.length > 0);
    for (const { leave } of [...streams, next]) leave();
    await until(() => place.studio.streams === 0);
  });

  test('one that the page leaves ends for the swarm, too', async () => {
    const swarm = await serveFake('fake');
    const stream = place.watch('fake');
    await until(() => swarm.watching === 1);
    // The page asks for earlier deltas, too, because it may be opened while an answer is being streamed.
    expect(swarm.calls.filter(([name]) => name === 'watch')).toEqual([['watch', { soFar: true }]]);
    stream.leave();
    await until(() => swarm.watching === 0);
  });

  test('accept no messages', async () => {
    const swarm = await serveFake('fake');
    const stream = place.watch('fake');
    await until(() => swarm.watching === 1);
    stream.say('{"type":"send"}');
    expect(await stream.closed).toBe('Studio accepts no messages here.');
    await until(() => swarm.watching === 0 && place.studio.streams === 0);
  });

  test('are not opened for other pages, or without the cookie', async () => {
    const swarm = await serveFake('fake');
    const strangers = [
      { Origin: 'http://evil.example' },
      { Origin: `http://127.0.0.1:${place.studio.port + 1}` },
      { Origin: 'null' },
      { Cookie: '' },
      { Cookie: `${place.cookie}x` },
      { Host: `evil.example:${place.studio.port}` },
      { 'Sec-Fetch-Site': 'same-site' },
    ];
    for (const headers of strangers) {
      const stream = place.watch('fake', headers);
      await stream.closed;
      expect(stream.notices, JSON.stringify(headers)).toEqual([]);
    }
    const handshake = { Upgrade: 'websocket', Connection: 'Upgrade', 'Sec-WebSocket-Version': '13' };
    const ask = async (headers: Record<string, string>) => {
      const lines = Object.entries({ Host: `127.0.0.1:${place.studio.port}`, ...headers }).map((each) =>
        each.join(': '),
      );
      const answer = await place.raw(`GET /api/workspaces/fake/events HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
      return Number(answer.slice('HTTP/1.1 '.length).slice(0, 3));
    };
    const key = { 'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==', ...handshake };
    const { cookie: Cookie, origin: Origin } = place;
    expect(await ask({ ...key, Cookie, Origin })).toBe(101);
    expect(await ask({ ...key, Cookie })).toBe(403);
    expect(await ask({ ...key, Cookie, Origin: 'http://evil.example' })).toBe(403);
    expect(await ask({ ...key, Origin })).toBe(401);
    // A request without an upgrade to a WebSocket is refused.
    expect(await ask({ Cookie, Origin })).toBe(426);
    await until(() => swarm.watching === 0);
  });

  test('a page that does not read loses lossy notices, and is told how many', async () => {
    const swarm = await serveFake('fake');
    let received = '';
    const socket = await Bun.connect({
      hostname: '127.0.0.1',
      port: place.studio.port,
      socket: {
        open(opened) {
          opened.write(
            `GET /api/workspaces/fake/events HTTP/1.1\r\nHost: 127.0.0.1:${place.studio.port}\r\nCookie: ${place.cookie}\r\n` +
              `Origin: ${place.origin}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n` +
              `Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
          );
        },
        data: (_, bytes) => void (received += bytes.toString()),
        error: () => undefined,
      },
    });
    cleanups.push(() => socket.terminate());
    await until(() => received.includes('"isRunning":true'));
    socket.pause();
    const line = { time: '2026-01-01T00:00:00.000Z', level: 'info', message: 'x'.repeat(10_000) } as const;
    for (let told = 0; told < 2_000; told += 1) {
      swarm.tell({ type: 'log', line });
      if (told % 50 === 0) await Bun.sleep(1);
    }
    socket.resume();
    await until(() => /"type":"dropped","count":\d+/.test(received));
  });

  test('end when Studio is stopped', async () => {
    const swarm = await serveFake('fake');
    const stream = place.watch('fake');
    await until(() => swarm.watching === 1 && stream.notices.length === 1);
    await place.studio.stop();
    await until(() => swarm.watching === 0);
  });
});
