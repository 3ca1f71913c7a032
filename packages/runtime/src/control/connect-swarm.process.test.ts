import { afterEach, beforeEach, describe, expect, expectTypeOf, test } from 'bun:test';
import { errorCatalogue, GoondanError } from '@goondan/types';
import { chmodSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { serveControl } from '../orchestrator/control/serve-control.ts';
import { fakeGrant, fakeQuestion, fakeStatus, fakeControl } from '../testing/fake-control.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { type ServedSwarm, serveFakeSwarm } from '../testing/serve-fake-swarm.ts';
import { workspaceFolder } from '../workspace/layout/instance-paths.ts';
import { connectSwarm, type ControlPlace } from './connect-swarm.ts';
import { controlSocketPath, systemSocketEnvironment } from './control-socket-path.ts';
import type { Acceptance, QuestionNotice, Swarm, SwarmNotice } from './swarm.ts';
import { rejectionOf } from '../workspace/simulation/rejection-of.ts';
import { until } from '../../../../test/until.ts';

let served: ServedSwarm;
let client: Swarm;

beforeEach(async () => {
  served = await serveFakeSwarm();
  client = await connectSwarm({ path: served.path });
});

afterEach(() => served.close());

const address = { agent: 'helper', instanceKey: 'a/b' };

describe('the client of a control socket', () => {
  test('reports damage found by a fork of a conversation', async () => {
    const made = { messages: 4, unknownStates: [], problems: ['E_STORE_CORRUPT: archive.jsonl is damaged'] };
    served.swarm.forkInstance = async () => made;
    expect(await client.forkInstance({ ...address, as: 'c' })).toEqual(made);
  });

  test('sends each request of the handle, and returns the swarm’s answer', async () => {
    expect(await client.status()).toEqual(fakeStatus);
    expect(await client.instances()).toEqual(fakeStatus.instances);
    const delivery = { agent: 'helper', input: 'Hello', id: 'e1', metadata: { a: 1 } };
    const file = { type: 'file', data: new Uint8Array([1, 2, 255]), mediaType: 'application/pdf' } as const;
    const sent = { ...delivery, content: [file] };
    expect(await client.deliver(sent)).toMatchObject({ accepted: true, eventId: 'e1', duplicate: false });
    expect(await client.cancel({ agent: 'helper', eventId: 'x', reason: 'Enough' })).toBe(false);
    expect(await client.deadLetters({ agent: 'helper', instanceKey: 'a/b' })).toMatchObject([{ eventId: 'dead' }]);
    expect(await client.deadLetters()).toHaveLength(1);
    expect(await client.retryDeadLetter({ ...address, eventId: 'dead' })).toBe(true);
    expect(await client.dropDeadLetter({ ...address, eventId: 'x' })).toBe(false);
    expect(await client.questions()).toEqual([fakeQuestion]);
    await client.answer({ id: fakeQuestion.id, by: 'ann', decision: 'approved' });
    expect(await rejectionOf(client.answer({ id: 'x', by: 'ann', note: 'No.', decision: 'denied' }))).toMatchObject({
      code: 'E_QUESTION_UNKNOWN',
    });
    expect(await client.grants()).toEqual([fakeGrant]);
    await client.revoke({ id: fakeGrant.id, by: 'ann', via: 'cli' });
    expect(await client.deleteInstance({ ...address, force: true })).toEqual({ inputs: 1 });
    expect(await client.deleteInstance(address)).toEqual({ inputs: 1 });
    const made = { seq: 7, messages: 4, unknownStates: ['notes'] };
    expect(await client.forkInstance({ ...address, as: 'c/d', at: 7 })).toEqual(made);
    expect(await client.forkInstance({ ...address, as: 'e', at: 'turn-x' })).toEqual(made);
    expect(await client.restart({ agent: 'helper', fresh: true })).toBe(2);
    expect(await client.restart()).toBe(2);
    expect(await client.reload()).toMatchObject({ kept: ['Swarm/fake'], changed: ['Agent/entry'] });
    expect(served.swarm.calls.filter(([name]) => name !== 'status')).toEqual([
      ['instances', {}],
      ['deliver', { ...delivery, content: [{ ...file, data: 'AQL/' }] }],
      ['cancel', { agent: 'helper', eventId: 'x', reason: 'Enough' }],
      ['deadLetters', { agent: 'helper', instanceKey: 'a/b' }],
      ['deadLetters', {}],
      ['retryDeadLetter', { ...address, eventId: 'dead' }],
      ['dropDeadLetter', { ...address, eventId: 'x' }],
      ['questions', {}],
      ['answer', { id: fakeQuestion.id, by: 'ann', decision: 'approved' }],
      ['answer', { id: 'x', by: 'ann', note: 'No.', decision: 'denied' }],
      ['grants', {}],
      ['revoke', { id: fakeGrant.id, by: 'ann', via: 'cli' }],
      ['deleteInstance', { ...address, force: true }],
      ['deleteInstance', address],
      ['forkInstance', { ...address, as: 'c/d', at: 7 }],
      ['forkInstance', { ...address, as: 'e', at: 'turn-x' }],
      ['restart', { agent: 'helper', fresh: true }],
      ['restart', {}],
      ['reload', {}],
    ]);
  });

  test('passes on a filter that matches nothing: it differs from no filter', async () => {
    await client.deadLetters({ agent: '', instanceKey: '' });
    await client.restart({ instanceKey: '' });
    for (const filter of [{ types: [] }, { agent: '', instanceKey: '', eventId: '', soFar: false }])
      (await client.watch(filter, () => undefined)).end();
    expect(served.swarm.calls.slice(-4)).toEqual([
      ['deadLetters', { agent: '', instanceKey: '' }],
      ['restart', { instanceKey: '' }],
      ['watch', { types: [] }],
      ['watch', { agent: '', instanceKey: '', eventId: '', soFar: false }],
    ]);
  });

  test('asks, receives the notices of the turn, and gets its end with real dates', async () => {
    const accepted: Acceptance[] = [];
    const notices: SwarmNotice[] = [];
    const ended = client.ask(
      { id: 'e1', input: 'Hello' },
      { onAccepted: (acceptance) => accepted.push(acceptance), onNotice: (notice) => notices.push(notice) },
    );
    await until(() => accepted.length === 1);
    served.swarm.tell(delta('Hé'));
    served.swarm.finish('e1', 'Hé there');
    const { result } = await ended;
    expect(accepted[0]).toMatchObject({ eventId: 'e1', turnId: 'turn-e1' });
    expect(notices).toEqual([delta('Hé')]);
    expect(result.responseMessage?.createdAt).toBeInstanceOf(Date);
    expect(result.finishReason).toBe('text_response');
    await until(() => served.server.open === 0);
  });

  test('receives tool calls that wait for approval, and nothing else in a watch of questions', async () => {
    const notices: SwarmNotice[] = [];
    const watch = await client.watch({ types: ['question'] }, (notice) => {
      expectTypeOf(notice).toEqualTypeOf<QuestionNotice>();
      notices.push(notice);
    });
    // @ts-expect-error A watch of everything needs a listener for everything.
    (() => client.watch({}, ({ question }: QuestionNotice) => question)) satisfies () => unknown;
    served.swarm.tell({ type: 'dropped', count: 3 });
    const about = {
      type: 'question',
      at: { agent: 'helper', instanceKey: 'default' },
      question: fakeQuestion,
    } as const;
    const told: SwarmNotice[] = [
      { ...about, state: 'asked' },
      { ...about, state: 'decided', outcome: { decision: 'denied', by: 'ann', note: 'No.' } },
    ];
    for (const notice of told) served.swarm.tell(notice);
    await until(() => notices.length === 2);
    expect(notices).toEqual(told);
    watch.end();
  });

  test('cancels the turn when the signal aborts, and still gets its end', async () => {
    const abort = new AbortController();
    const ended = client.ask({ id: 'e1' }, { signal: abort.signal });
    await until(() => served.swarm.running.length === 1);
    abort.abort();
    expect((await ended).result.error?.code).toBe('E_CANCELLED');
    expect(served.swarm.calls.at(-1)).toEqual(['cancel', { agent: 'entry', instanceKey: 'default', eventId: 'e1' }]);
  });

  test('cancels the turn also when the signal aborts before it is accepted', async () => {
    const abort = new AbortController();
    const accepted = Promise.withResolvers<void>();
    served.swarm.holdNext(accepted.promise);
    const ended = client.ask({ id: 'e1' }, { signal: abort.signal });
    await until(() => served.swarm.calls.some(([name]) => name === 'ask'));
    abort.abort();
    accepted.resolve();
    expect((await ended).result.error?.code).toBe('E_CANCELLED');
  });

  test('sends nothing when the signal has already aborted', async () => {
    const refused = client.ask({ id: 'e1' }, { signal: AbortSignal.abort() });
    expect(await codeOf(refused)).toBe('E_CANCELLED');
    expect(served.swarm.running).toEqual([]);
  });

  test('leaves its turn running when it dies, unless it requested otherwise', async () => {
    const script = `
      const { connectSwarm } = await import(process.argv[1]);
      const client = await connectSwarm({ path: process.argv[2] });
      void client.ask({ id: 'left' });
      void client.ask({ id: 'taken' }, { cancelOnDisconnect: true });
    `;
    const module = join(import.meta.dir, 'connect-swarm.ts');
    const child = Bun.spawn([process.execPath, '-e', script, module, served.path], { stdout: 'ignore' });
    await until(() => served.swarm.running.length === 2);
    child.kill('SIGKILL');
    await child.exited;
    await until(() => served.swarm.running.length === 1 && served.server.open === 0);
    expect(served.swarm.cancelled).toEqual(['taken']);
    expect(served.swarm.running).toEqual(['left']);
  });

  test('watches until it has enough', async () => {
    const notices: SwarmNotice[] = [];
    const filter = { agent: 'helper', types: ['delta', 'log'], soFar: true } as const;
    const watch = await client.watch(filter, (notice) => notices.push(notice));
    expect(served.swarm.calls.at(-1)).toEqual(['watch', filter]);
    served.swarm.tell(delta('one'));
    await until(() => notices.length === 1);
    watch.end();
    await watch.ended;
    await until(() => served.swarm.watching === 0);
    expect(notices).toEqual([delta('one')]);
  });

  test('watches until the swarm stops', async () => {
    const watch = await client.watch({}, () => undefined);
    await served.server.close();
    await watch.ended;
  });

  test('stops the swarm, and learns when it is gone', async () => {
    const gone = client.stopped;
    await until(() => served.swarm.watching === 1);
    served.swarm.stop = async (options) => {
      expect(options).toEqual({ graceMs: 7 });
      await Bun.sleep(20);
      await served.server.close();
    };
    await client.stop({ graceMs: 7 });
    expect(await codeOf(client.status())).toBe('E_CONTROL_CLOSED');
    await gone;
  });
});

describe('the errors of a client', () => {
  test('are those of the swarm', async () => {
    served.swarm.failNext(new GoondanError('E_AGENT_UNKNOWN', 'No "x".', { suggestion: 'Use a.', retryAfterMs: 5 }));
    expect(await errorOf(client.deliver({ agent: 'x' }))).toMatchObject({
      name: 'GoondanError',
      code: 'E_AGENT_UNKNOWN',
      message: 'No "x".',
      suggestion: 'Use a.',
      retryAfterMs: 5,
    });
    served.swarm.failNext(new GoondanError('E_INBOX_FULL', 'Full.', { retryable: true }));
    expect(await errorOf(client.ask({}))).toMatchObject({ code: 'E_INBOX_FULL', retryable: true });
    const ended = client.ask({ id: 'e1' });
    await until(() => served.swarm.running.length === 1);
    served.swarm.fail('e1', new GoondanError('E_DISK_FULL', 'Full.'));
    expect(await codeOf(ended)).toBe('E_DISK_FULL');
    expect(await codeOf(client.deliver({ input: 7 as unknown as string }))).toBe('E_CONTROL_REQUEST');
    expect(await codeOf(client.deliver({ input: 'x'.repeat(17_000_000) }))).toBe('E_CONTROL_REQUEST');
    expect(await codeOf(client.deliver({ metadata: { a: 1n as unknown as number } }))).toBe('E_CONTROL_REQUEST');
    served.swarm.stop = () => Promise.reject(new GoondanError('E_STORE_WRITE', 'No.'));
    expect(await codeOf(client.stop())).toBe('E_STORE_WRITE');
  });

  test('report that no swarm is there: no folder, no socket, no listener', async () => {
    for (const path of [join(served.folder, 'none', 'control.sock'), join(served.folder, 'none.sock')]) {
      expect(await errorOf(connectSwarm({ path }))).toMatchObject({
        code: 'E_CONTROL_CLOSED',
        message: `The swarm at ${path} is not running.`,
        suggestion: 'Start the swarm, then ask again.',
      });
    }
    const path = join(served.folder, 'dead.sock');
    const script = `Bun.listen({ unix: process.argv[1], socket: { data() {} } }); process.kill(process.pid, 'SIGKILL')`;
    await Bun.spawn([process.execPath, '-e', script, path]).exited;
    expect(await codeOf(connectSwarm({ path }))).toBe('E_CONTROL_CLOSED');
    expect(await errorOf(connectSwarm({ stateRoot: served.folder, workspaceId: 'team' }))).toMatchObject({
      message: 'The swarm of workspace "team" is not running.',
    });
  });

  test.each([
    ['workspaceId is undefined', { stateRoot: '/nowhere', workspaceId: undefined }],
    ['stateRoot is undefined', { workspaceId: 'shop' }],
    ['stateRoot is undefined', undefined],
    ['path is empty', { path: '' }],
  ])('report that %s', async (problem, place) => {
    // The cast is needed because a program in JavaScript may pass anything.
    const refused = await connectSwarm(place as unknown as ControlPlace).catch((error: unknown) => error);
    expect(refused).toMatchObject({ code: 'E_CONTROL_REQUEST', message: expect.stringContaining(problem) });
  });

  test('report that the swarm went away in the middle', async () => {
    const answers: Record<string, string> = {
      '/v3/status': ok(JSON.stringify(fakeStatus)),
      '/v3/ask': 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n',
      '/v3/events': 'HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nContent-Length: 12\r\n\r\n: watching\n\n',
    };
    await withServer(answers, async (path) => {
      const other = await connectSwarm({ path });
      expect(await errorOf(other.instances())).toMatchObject({
        code: 'E_CONTROL_CLOSED',
        message: `The swarm at ${path} closed the connection before it answered; whether the request took effect is unknown.`,
      });
      expect(await codeOf(other.ask({}))).toBe('E_CONTROL_CLOSED');
      const watch = await other.watch({}, () => undefined);
      expect(await codeOf(watch.ended)).toBe('E_CONTROL_CLOSED');
    });
  });

  test('do not come from a timer that was left running', async () => {
    const clock = manualClock();
    const other = await connectSwarm({ path: served.path }, { clock });
    const ended = other.ask({ id: 'e1' });
    await until(() => served.swarm.running.length === 1);
    served.swarm.finish('e1', 'Hi');
    await ended;
    const watch = await other.watch({}, () => undefined);
    watch.end();
    await watch.ended;
    expect(await codeOf(other.deliver({ agent: '' }))).toBe('E_CONTROL_REQUEST');
    expect(await codeOf(other.ask({ agent: '' }))).toBe('E_CONTROL_REQUEST');
    await other.stop();
    expect(clock.pending).toBe(0);
  });

  test('report that the swarm is silent', async () => {
    const clock = manualClock();
    const patient = await connectSwarm({ path: served.path }, { clock, silenceMs: 1_000 });
    served.swarm.holdNext(new Promise(() => undefined));
    const instances = codeOf(patient.instances());
    await until(() => served.server.open === 1);
    await clock.advance(1_000);
    expect(await instances).toBe('E_CONTROL_SILENT');

    let heard = 0;
    const watch = await patient.watch({}, () => void (heard += 1));
    for (let round = 1; round <= 3; round++) {
      await clock.advance(900);
      served.swarm.tell(delta('a sign of life'));
      await until(() => heard === round);
    }
    expect(served.swarm.watching).toBe(1);
    await clock.advance(1_000);
    expect(await codeOf(watch.ended)).toBe('E_CONTROL_SILENT');
    await until(() => served.swarm.watching === 0);
  });

  test.each([
    [
      'E_CONTROL_VERSION',
      '404',
      '{"error":{"code":"E_CONTROL_VERSION","message":"This swarm speaks /v1, not /v3.","suggestion":"x"}}',
    ],
    ['E_CONTROL_ANSWER', '200', '{"swarm":1}'],
    ['E_CONTROL_ANSWER', '200', '<html>'],
    ['E_CONTROL_ANSWER', '500', 'oops'],
    ['E_CONTROL_ANSWER', '500', '{"error":"oops"}'],
    ['E_CONTROL_ANSWER', '409', '{"error":{"code":"E_FROM_THE_FUTURE","message":"New."}}'],
  ])('%s for an answer that another version may give: %s %s', async (code, status, body) => {
    await withServer({ '/v3/status': ok(body, status) }, async (path) => {
      expect(await codeOf(connectSwarm({ path }))).toBe(code);
    });
  });

  test('tell to restart a swarm of another version, whatever that version advises', async () => {
    const body = '{"error":{"code":"E_CONTROL_VERSION","message":"This swarm speaks /v1, not /v3.","suggestion":"x"}}';
    await withServer({ '/v3/status': ok(body, '404') }, async (path) => {
      expect(await errorOf(connectSwarm({ path }))).toMatchObject({
        message: `The swarm at ${path} was started by another version of Goondan: This swarm speaks /v1, not /v3.`,
        suggestion: errorCatalogue.E_CONTROL_VERSION.suggestion,
      });
    });
  });

  test('name a code that this version does not know', async () => {
    const body = '{"error":{"code":"E_FROM_THE_FUTURE","message":"New.","suggestion":"Update."}}';
    await withServer({ '/v3/status': ok(body, '409') }, async (path) => {
      expect(await errorOf(connectSwarm({ path }))).toMatchObject({
        message: 'E_FROM_THE_FUTURE: New.',
        suggestion: 'Update.',
      });
    });
  });

  test('are not caused by fields of a newer server', async () => {
    const notice = { ...delta('Hi'), added: true };
    const stream = [
      'event: accepted\ndata: {"accepted":true,"eventId":"e","agent":"a","instanceKey":"k","turnId":"t","traceId":"x","duplicate":false,"added":1}\n\n',
      'event: weather\ndata: {"type":"weather"}\n\n',
      `event: delta\ndata: ${JSON.stringify(notice)}\n\n`,
      'event: ended\ndata: {"agent":"a","instanceKey":"k","eventId":"e","traceId":"x","result":{"turnId":"t","finishReason":"text_response"},"stepCount":1,"usage":{"inputTokens":1,"outputTokens":1,"totalTokens":2}}\n\n',
    ].join('');
    const answers = {
      '/v3/status': ok(JSON.stringify({ ...fakeStatus, added: true })),
      '/v3/ask': ok(stream),
    };
    await withServer(answers, async (path) => {
      const notices: SwarmNotice[] = [];
      const end = await (await connectSwarm({ path })).ask({}, { onNotice: (told) => notices.push(told) });
      expect(end.eventId).toBe('e');
      expect(notices).toEqual([delta('Hi')]);
    });
  });

  test('report a socket in a folder that others can write to as not trusted', async () => {
    chmodSync(served.folder, 0o777);
    expect(await errorOf(connectSwarm({ path: served.path }))).toMatchObject({
      code: 'E_CONTROL_PATH',
      message: `${served.folder} can be written by others (mode 777).`,
    });
    expect(await codeOf(client.status())).toBe('E_CONTROL_PATH');
  });
});

describe('server and client', () => {
  test.each([
    ['in the workspace', ''],
    ['elsewhere, when the workspace is too deep in the disk', 'deep/'.repeat(20)],
  ])('agree on a path %s', async (_, deep) => {
    const root = mkdtempSync(join(tmpdir(), 'meet-'));
    const runtimeFolder = process.env['XDG_RUNTIME_DIR'];
    process.env['XDG_RUNTIME_DIR'] = root;
    const stateRoot = join(root, deep);
    const workspace = workspaceFolder(stateRoot, 'team');
    mkdirSync(workspace, { recursive: true, mode: 0o700 });
    const path = controlSocketPath(workspace, 'team', systemSocketEnvironment());
    const server = await serveControl(fakeControl(), { path });
    try {
      expect(dirname(path) === workspace).toBe(deep === '');
      expect((await (await connectSwarm({ stateRoot, workspaceId: 'team' })).status()).swarm).toBe('default');
    } finally {
      await server.close();
      if (runtimeFolder === undefined) delete process.env['XDG_RUNTIME_DIR'];
      else process.env['XDG_RUNTIME_DIR'] = runtimeFolder;
      rmSync(root, { recursive: true, force: true });
    }
  });
});

function delta(text: string): SwarmNotice {
  const at = { agent: 'entry', instanceKey: 'default' };
  return { type: 'delta', at, eventId: 'e1', delta: { type: 'text', text, turnId: 't', stepId: 's', stepIndex: 0 } };
}

async function codeOf(promise: Promise<unknown>): Promise<string | undefined> {
  return (await errorOf(promise))?.code;
}

async function errorOf(promise: Promise<unknown>): Promise<GoondanError | undefined> {
  try {
    await promise;
    return undefined;
  } catch (error) {
    if (error instanceof GoondanError) return error;
    throw error;
  }
}

function ok(body: string, status = '200'): string {
  return `HTTP/1.1 ${status} X\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
}

/** Starts a server that answers each path with these bytes and closes the connection. */
async function withServer(
  answers: Readonly<Record<string, string>>,
  use: (path: string) => Promise<void>,
): Promise<void> {
  const path = join(served.folder, 'other.sock');
  const other = Bun.listen({
    unix: path,
    socket: {
      data(socket, bytes) {
        const [, at = ''] = /^\w+ ([^ ?]+)/.exec(bytes.toString()) ?? [];
        socket.end(answers[at] ?? '');
      },
    },
  });
  try {
    await use(path);
  } finally {
    other.stop(true);
  }
}
