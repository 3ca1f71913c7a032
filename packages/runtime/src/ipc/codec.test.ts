import { describe, expect, test } from 'bun:test';
import { type AgentEvent, type ConnectorQuestion, type ErrorCode, GoondanError, type TurnResult } from '@goondan/types';
import fc from 'fast-check';
import { anyText } from '../../../../test/any-text.ts';
import { fromFrameError, toFrameError } from './check/frame-error.ts';
import { agentLanguage, type Codec, connectorLanguage, keeperLanguage } from './codec.ts';
import type { FromAgent } from './from-agent.ts';
import type { FromConnector } from './from-connector.ts';
import type { FromKeeper } from './from-keeper.ts';
import type { ToAgent } from './to-agent.ts';
import type { ToConnector } from './to-connector.ts';
import type { ToKeeper } from './to-keeper.ts';

const createdAt = new Date('2026-03-04T05:06:07.089Z');
const event: AgentEvent = {
  id: 'event-1',
  type: 'agent.message',
  input: 'Grüße 🦆\n"zitiert"',
  instanceKey: 'a/../b',
  source: { kind: 'agent', name: 'coder' },
  auth: { user: 'ada' },
  replyTo: { target: 'coder', correlationId: 'c-1' },
  metadata: { depth: { of: ['json', 1, null] } },
  callChain: [{ agentName: 'coder', instanceKey: 'default' }],
  traceId: 'trace-1',
  parentSpanId: 'span-1',
  createdAt,
};
const result: TurnResult = {
  turnId: 'turn-1',
  finishReason: 'text_response',
  responseMessage: {
    id: 'message-1',
    data: { role: 'assistant', content: [{ type: 'text', text: 'Hi.' }] },
    metadata: { pinned: true },
    createdAt,
    source: { type: 'assistant', stepId: 'step-1' },
  },
};
const error = { code: 'E_INBOX_FULL', message: 'full', retryable: true, retryAfterMs: 5 } as const;
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
const delta = { type: 'text', text: 'Hi', turnId: 'turn-1', stepId: 'step-1', stepIndex: 0 } as const;
const line = { time: 't', level: 'info', message: '', agent: 'coder', instance: 'default', data: { a: 1 } } as const;
const counts = { delta: 1, log: 2, 'runtime.event': 3 };
const layer = {
  kind: 'turn',
  extension: 'x',
  name: 'x',
  tier: 'swarm',
  priority: -1,
  mayShortCircuit: false,
  onError: 'fail',
  buffers: true,
} as const;

type Fields<Message> = Message extends unknown ? Omit<Message, 'type'> : never;

/** Takes the fields of messages of each type, and returns the messages. */
function samplesOf<Message extends { type: string }>(fields: {
  readonly [Type in Message['type']]: readonly Fields<Extract<Message, { type: Type }>>[];
}): Message[] {
  return Object.entries<readonly object[]>(fields).flatMap(([type, list]) =>
    // The fields of each type are checked above.
    list.map((each) => ({ type, ...each }) as unknown as Message),
  );
}

const asking = <Request>(...requests: Request[]) => requests.map((request) => ({ callId: 'call-1', request }));
const ending = <Outcome>(...outcomes: Outcome[]) => outcomes.map((outcome) => ({ callId: 'call-1', outcome }));

const toAgent = samplesOf<ToAgent>({
  start: [{ plan: { agentName: 'coder', models: {} } }],
  turn: [
    { event, seq: 3 },
    { event, seq: 4, deadLetter: true, blocked: 'blocked in tool a__run (a.ts)' },
    { event, seq: 4, isExcused: true },
  ],
  'turn.ahead': [{ event, seq: 5 }],
  'turn.back': [{ eventId: 'event-1' }],
  'turn.steer': [{ event: { ...event, delivery: 'now' }, seq: 6 }],
  cancel: [{ eventId: 'event-1', reason: '' }],
  'call.ended': ending({ status: 'accepted' }, { status: 'answered', result }, { status: 'failed', error }),
  'reply.taken': [{ eventId: 'event-1' }],
  watch: [{ kinds: [] }, { kinds: ['delta', 'runtime.event'], soFar: true }, { kinds: ['delta'], during: 'event-1' }],
  'agents.listed': [{ callId: 'call-1', instances: [{ agentName: 'b', instanceKey: 'k', status: 'asleep' }] }],
  'turn.held': [
    { eventId: 'event-1', isHeld: true },
    { eventId: 'event-1', isHeld: false },
  ],
  'question.ended': ending(
    { status: 'answered', answer: { id: 'a1', decision: 'approved' } },
    { status: 'answered', answer: { id: 'a1', decision: 'denied', by: 'ann', note: 'No.' } },
    { status: 'failed', error },
  ),
  'counters.ended': ending(
    { status: 'reserved', marked: [1], waitedMs: 0.5 },
    { status: 'refused', claim: 0, used: 20, reserved: 1, limit: 20 },
    { status: 'done' },
    { status: 'failed', error },
  ),
  'counters.waiting': [{ callId: 'call-1', limit: 'concurrent: 1 of Model/main' }],
  'changeset.ended': ending({ status: 'answered', value: { content: null } }, { status: 'failed', error }),
  'store.ended': ending(
    { status: 'done' },
    { status: 'loaded', log: { epoch: 2, base: [], frames: [] } },
    { status: 'loaded', log: { epoch: 2, checkpoint: '{}', base: ['a\n'], frames: ['{}', '{}'] } },
    { status: 'left', answers: [{ eventId: 'e1', result: { turnId: 't', finishReason: 'text_response' } }] },
    { status: 'failed', error },
  ),
  'agents.changed': [
    {
      agents: [{ name: 'a' }, { name: 'b', description: 'Asks back.' }],
      connections: [{ name: 'front-door', connector: 'web' }],
    },
    { agents: [], connections: [] },
  ],
  'change.prepare': [{ change: 1, plan: { agentName: 'coder', models: {} } }],
  'change.swap': [{ change: 1 }],
  'change.drop': [{ change: 1 }],
  ping: [{ n: 0 }],
  drain: [{ graceMs: 30_000 }, { graceMs: 30_000, cleanUpMs: 1_000 }],
});

const fromAgent = samplesOf<FromAgent>({
  ready: [{ extensions: ['x'], layers: [layer, { ...layer, timeoutMs: 5 }], tools: ['a__b'] }],
  described: [
    { extensions: ['x'], layers: [], tools: [] },
    {
      extensions: ['x'],
      layers: [],
      tools: ['x__y'],
      registered: [{ name: 'x__y', extension: 'x', seenAt: '2026-01-01T00:00:00.000Z' }],
      unknown: ['z'],
      statuses: [
        {
          extension: 'x',
          state: 'failed',
          target: 'node server.mjs',
          problem: 'It is gone.',
          lines: ['bye'],
          lost: 1,
          tools: ['x__y'],
          withheld: [{ name: 'w', problem: 'It changed.' }],
          agentName: 'a',
          instanceKey: 'k',
          timestamp: '2026-01-01T00:00:00.000Z',
          since: '2026-01-01T00:00:00.000Z',
          turnId: 'turn-1',
          traceId: 'trace-1',
        },
      ],
    },
  ],
  'so.far': [
    { events: [], deltas: [] },
    {
      events: [{ name: 'turn.started', payload: { turnId: 't' } }],
      deltas: [
        { eventId: 'e', delta: { type: 'text', text: 'x', turnId: 't', stepId: 's', stepIndex: 0 }, soFar: 'all' },
        { eventId: 'e', delta: { type: 'reasoning', text: 'x', turnId: 't', stepId: 's', stepIndex: 0 }, soFar: 'end' },
      ],
    },
  ],
  'start.failed': [{ error }],
  'turn.begun': [{}],
  'turn.lost': [{ eventId: 'e', error }],
  'turn.done': [
    { eventId: 'event-1', result, stepCount: 1, usage },
    { eventId: 'event-1', result, stepCount: 1, usage, begins: 'event-2' },
    { eventId: 'event-1', result, stepCount: 1, usage, took: ['event-3', 'event-4'] },
    {
      eventId: 'event-1',
      result: { turnId: 'turn-1', finishReason: 'error', error: { message: 'no', code: 'ANY' } },
      stepCount: 0,
      usage: { ...usage, cachedInputTokens: 1 },
    },
  ],
  'turn.returned': [{ eventId: 'event-1' }],
  reply: [{ eventId: 'event-1', result }],
  delta: [
    { eventId: 'event-1', delta },
    { eventId: 'event-1', delta: { ...delta, type: 'reasoning' } },
    { eventId: 'event-1', delta: { type: 'discard', turnId: 't', stepId: 's', stepIndex: 2 } },
  ],
  'runtime.event': [{ name: 'turn.started', payload: { turnId: 'turn-1' } }],
  log: [{ line }],
  call: [{ callId: 'call-1', kind: 'request', to: { agentName: 'b', instanceKey: 'k' }, event, timeoutMs: 15_000 }],
  'call.cancelled': [{ callId: 'call-1' }],
  'agents.list': [{ callId: 'call-1' }],
  'question.ask': [
    {
      callId: 'call-1',
      key: '0/call/x/approval/0',
      toolCallId: 'x',
      toolName: 'bash__exec',
      kind: 'call',
      askedBy: { extension: 'approval', server: 'files' },
      schema: { type: 'object' },
      fingerprint: 'f',
      args: { command: 'ls' },
      reason: 'Why not?',
      expiresInMs: 1,
    },
    {
      callId: 'call-2',
      key: '0/call/x/person/approval/0',
      toolCallId: 'x',
      toolName: 'bash__exec',
      kind: 'page',
      url: 'https://example.com/',
      args: {},
      reason: 'Sign in.',
      expiresInMs: 1,
    },
  ],
  'question.withdrawn': [{ callId: 'call-1' }],
  'question.taken': [{ id: 'a1' }],
  'changeset.ask': asking(
    { kind: 'open' },
    { kind: 'read', changesetId: 'c1', path: 'a.md' },
    { kind: 'write', changesetId: 'c1', path: 'a.md', content: '' },
    { kind: 'write', changesetId: 'c1', path: 'a.md' },
    { kind: 'review', changesetId: 'c1' },
    { kind: 'commit', changesetId: 'c1', digest: 'd' },
    { kind: 'commit', changesetId: 'c1', digest: 'd', approvalId: 'a1' },
  ),
  store: asking(
    { kind: 'load' },
    { kind: 'append', epoch: 1, frame: { seq: 1, last: 1, line: '{}', isDurable: false } },
    {
      kind: 'append',
      epoch: 1,
      frame: {
        seq: 2,
        last: 3,
        line: '{}',
        isDurable: true,
        begins: 4,
        commit: {
          version: 1,
          messages: 2,
          deadLetters: 0,
          updatedAt: 1_790_000_000_000,
          handled: 4,
          answer: { eventId: 'e1', caller: { agentName: 'a', instanceKey: 'k' }, reply: '{}' },
        },
      },
    },
    { kind: 'checkpoint', epoch: 1, checkpoint: { seq: 3, text: '{}', base: { type: 'append', lines: 'a\n' } } },
    { kind: 'answers.left' },
    { kind: 'answers.acknowledge', eventId: 'e1' },
    {
      kind: 'traces',
      lines: [
        {
          turn: { turnId: 't', traceId: 'trace', startedAt: new Date('2026-01-02T03:04:05.678Z') },
          isNeeded: true,
          text: '{}',
        },
      ],
    },
    { kind: 'events', lines: [{ name: 'turn.started' }] },
  ),
  'counters.ask': asking(
    {
      kind: 'reserve',
      id: 'turn-1/0/model/1',
      claims: [{ scope: 'swarm', counter: 'c', window: 'minute', amount: 1, limit: 20, isSoft: true }],
      limits: ['requestsPerMinute: 20 of Model/m'],
    },
    { kind: 'reserve', id: 'b', claims: [{ scope: 'agent', counter: 'c', window: 'day', amount: 1, limit: 20 }] },
    { kind: 'begin', ids: ['turn-1/0/model/1'] },
    { kind: 'raise', approvalId: 'a', budget: { to: 40 } },
  ),
  'counters.withdrawn': [{ callId: 'call-1' }],
  'counters.settled': [{ id: 'turn-1/0/model/1', amounts: [1, 200] }, { id: 'turn-1/0/model/1' }],
  'changeset.withdrawn': [{ callId: 'call-1' }],
  'change.ready': [{ change: 1 }],
  'change.failed': [{ change: 1, error }],
  'change.swapped': [{ change: 1 }],
  pong: [{ n: 7 }],
  drained: [{}, { leavesTurn: true }],
  replayed: [
    {
      outcome: {
        first: {
          place: ['step 0'],
          extension: 'guard',
          layer: 'limit',
          what: 'field',
          message: 'changed args.days differently than in the recording',
          changes: [{ path: 'args.days', before: '3', after: '7' }],
        },
        others: 0,
        layers: 2,
        steps: 1,
        served: { model: 1, tool: 1, agent: 0, approval: 0 },
        stoppedAt: [],
        halted: {
          how: 'cancelled',
          place: ['step 0'],
          layer: { extension: 'guard', name: 'limit' },
          error: 'E_CANCELLED: no',
        },
      },
    },
    { outcome: { others: 0, layers: 0, steps: 0, served: { model: 0, tool: 0, agent: 0, approval: 0 } } },
  ],
  dropped: [{ counts }],
});

const acceptance = { agent: 'coder', instanceKey: 'k', turnId: 'turn-1', traceId: 'trace-1', duplicate: false };

const question: ConnectorQuestion = {
  ...{ id: 'q', agent: 'coder', instanceKey: 'k', turnId: 'turn-1', toolName: 'pay', args: { euros: 3 } },
  ...{ kind: 'call', reason: 'Why not?', digest: 'd', askedAt: 't', expiresAt: 't' },
};

const toConnector = samplesOf<ToConnector>({
  start: [{ plan: {} }],
  'connector.accepted': [{ id: 'e' }],
  'connector.refused': [{ id: 'e', error }],
  'ask.accepted': [{ askId: 'ask-1', acceptance }],
  'ask.delta': [{ askId: 'ask-1', delta }],
  'ask.ended': [
    {
      askId: 'ask-1',
      outcome: {
        status: 'answered',
        answer: { ...acceptance, response: 'Hi.', finishReason: 'error', error: { message: 'no' }, usage },
      },
    },
    { askId: 'ask-1', outcome: { status: 'failed', error } },
  ],
  'question.changed': [
    { change: { state: 'asked', question: { ...question, auth: { client: 'ci' } } } },
    { change: { state: 'answered', question, by: 'kim' } },
  ],
  'question.taken': [{ callId: 'c' }],
  'question.refused': [{ callId: 'c', error }],
  'file.taken': [{ callId: 'c' }],
  'file.refused': [{ callId: 'c', error }],
  ping: [{ n: 1 }],
  drain: [{ graceMs: 0 }],
  dropped: [{ counts }],
});

const fromConnector = samplesOf<FromConnector>({
  ready: [{}],
  failed: [{ error }],
  'connector.event': [
    { id: 'e', event: { name: 'message', input: 'hi', properties: { chat: 7 }, auth: {}, metadata: {}, createdAt } },
  ],
  'connector.ask': [
    { askId: 'ask-1', id: 'e', event: { name: 'message', createdAt, traceId: 'f'.repeat(32) }, wantsDeltas: true },
  ],
  'ask.left': [{ askId: 'ask-1', cancel: false }],
  'question.answer': [
    { callId: 'c', reply: { id: 'q', decision: 'denied', by: 'ci', note: 'No.' } },
    {
      callId: 'c',
      reply: { id: 'q', digest: 'd', decision: 'approved', by: 'ci', auth: {}, args: {}, content: {}, always: 'tool' },
    },
  ],
  'file.put': [{ callId: 'c', upload: 'u', data: 'AAAA', size: 3, isLast: true }],
  'file.release': [{ uploads: ['u'] }],
  log: [{ line: { time: 't', level: 'warn', message: '', connection: 'chat', event: 'x' } }],
  pong: [{ n: 1 }],
  drained: [{}],
  dropped: [{ counts }],
});

const toKeeper = samplesOf<ToKeeper>({
  start: [{ plan: { extension: 'files' } }],
  surroundings: [{ environment: { A: 'b' }, unset: ['C'], workdir: '/w', secrets: ['b'] }],
  ping: [{ n: 1 }],
  drain: [{ graceMs: 5 }],
});

const fromKeeper = samplesOf<FromKeeper>({
  ready: [{}],
  failed: [{ error: { code: 'E_EXT_LOAD', message: 'none' } }],
  status: [{ status: { state: 'connected', lost: 1, lines: ['x'], tools: ['look'] } }],
  log: [{ line: { time: 't', level: 'warn', message: '', event: 'x' } }],
  pong: [{ n: 1 }],
  drained: [{}],
  dropped: [{ counts }],
});

type AnyCodec = Omit<Codec<never, unknown>, 'dropped'>;

describe('every message', () => {
  describe.each<[string, AnyCodec, AnyCodec, readonly { type: string }[]]>([
    ['to an agent', agentLanguage.parent, agentLanguage.child, toAgent],
    ['from an agent', agentLanguage.child, agentLanguage.parent, fromAgent],
    ['to a connector', connectorLanguage.parent, connectorLanguage.child, toConnector],
    ['from a connector', connectorLanguage.child, connectorLanguage.parent, fromConnector],
    ['to a keeper', keeperLanguage.parent, keeperLanguage.child, toKeeper],
    ['from a keeper', keeperLanguage.child, keeperLanguage.parent, fromKeeper],
  ])('%s arrives unchanged', (_, sender, receiver, samples) => {
    test.each(samples)('$type', (message) => {
      expect(receiver.decode(sender.encode(message as never))).toStrictEqual(message);
    });
  });

  test('is a single line, whatever it contains', () => {
    fc.assert(
      fc.property(anyText(), fc.jsonValue(), (input, value) => {
        const metadata = { value: JSON.parse(JSON.stringify(value)) as never };
        const message: ToAgent = { type: 'turn', event: { ...event, input, metadata }, seq: 1 };
        const frame = agentLanguage.parent.encode(message);
        expect(frame).not.toContain('\n');
        expect(agentLanguage.child.decode(frame)).toStrictEqual(message);
      }),
    );
  });
});

describe('a rejected frame', () => {
  test.each([
    ['', 'A frame is not JSON.'],
    ['{"type":"pong","n":1', 'A frame is not JSON.'],
    ['null', 'A frame "?" is malformed: it is null, not an object.'],
    ['[{"type":"pong","n":1}]', 'A frame "?" is malformed: it is a list, not an object.'],
    ['{"type":"turn"}', 'A frame "turn" is malformed: type is "turn", not one of ready,'],
    ['{"type":"constructor"}', 'A frame "constructor" is malformed: type is "constructor", not one of ready,'],
    ['{"type":"pong","n":-1}', 'A frame "pong" is malformed: n is -1, not a whole number of at least 0.'],
    ['{"type":"pong","n":1e999}', 'A frame "pong" is malformed: n is Infinity, not a whole number of at least 0.'],
    ['{"type":"counters.settled","id":"a","amounts":[1,-0.5]}', 'amounts[1] is -0.5, not a number of at least 0'],
    ['{"type":"start.failed","error":{"code":"E_MINE","message":""}}', 'error.code is not a code of the catalogue'],
    ['{"type":"call","callId":"1","kind":"order"}', 'kind is "order", not one of request, send'],
    [JSON.stringify({ ...sampleOf('turn.done'), result: { turnId: 1 } }), 'result.turnId is 1, not a text'],
    [
      JSON.stringify({ ...sampleOf('call'), event: { ...event, createdAt: 1_700_000_000 } }),
      'event.createdAt is 1700000000, not a date',
    ],
    [
      JSON.stringify({
        ...sampleOf('turn.done'),
        result: { ...result, responseMessage: { ...result.responseMessage, data: { role: 'tool', content: 'x' } } },
      }),
      'result.responseMessage.data.content is a text, not a list',
    ],
  ])('%# gives the reason', (frame, message) => {
    expectRefusal(() => agentLanguage.parent.decode(frame), message);
  });

  test('of a connector names the wrong id of a span', () => {
    const heard = { name: 'message', createdAt, parentSpanId: 'F'.repeat(16) };
    const frame = JSON.stringify({ type: 'connector.event', id: 'e', event: heard });
    expectRefusal(() => connectorLanguage.parent.decode(frame), 'event.parentSpanId is not 16 lowercase');
  });

  test.each<[FromAgent, string]>([
    [{ type: 'runtime.event', name: 'x', payload: { f: (() => 1) as never } }, 'payload.f is a function'],
    [
      { ...sampleOf('call'), event: { ...event, createdAt: new Date(NaN) } },
      'event.createdAt is an invalid date, not a date',
    ],
    [{ type: 'log', line: { ...line, data: cyclic() } }, 'is nested deeper than 256 levels'],
    [{ type: 'nothing' } as never, 'type is "nothing", not one of ready,'],
  ])('is rejected before it is sent: %#', (message, problem) => {
    expectRefusal(() => agentLanguage.child.encode(message), problem);
  });
});

describe('lossy messages', () => {
  test.each<[string, AnyCodec, readonly { type: string }[], string[]]>([
    ['an agent', agentLanguage.child, fromAgent, ['delta', 'runtime.event', 'log']],
    ['a connector', connectorLanguage.child, fromConnector, ['log']],
    ['a keeper', keeperLanguage.child, fromKeeper, ['log']],
    ['the orchestrator, to an agent', agentLanguage.parent, toAgent, []],
    ['the orchestrator, to a connector', connectorLanguage.parent, toConnector, ['ask.delta']],
  ])('of %s', (_, codec, samples, lossy) => {
    const types = samples
      .filter((message) => codec.lossyKindOf(message as never) !== undefined)
      .map(({ type }) => type);
    expect([...new Set(types)]).toEqual(lossy);
  });
});

describe('an error', () => {
  test('keeps its code, message and suggestion on its way', () => {
    const thrown = new GoondanError('E_INBOX_FULL', 'full', {
      suggestion: 'Wait.',
      retryable: true,
      retryAfterMs: 9.6,
    });
    const arrived = fromFrameError(toFrameError(thrown, 'E_IPC_FRAME'));
    expect(arrived).toBeInstanceOf(GoondanError);
    expect(arrived).toMatchObject({
      code: 'E_INBOX_FULL',
      message: 'full',
      suggestion: 'Wait.',
      retryable: true,
      retryAfterMs: 10,
    });
  });

  test('without a code of ours gets one', () => {
    const code: ErrorCode = 'E_EXT_INIT';
    expect(toFrameError(new TypeError('no'), code)).toEqual({ code, message: 'no' });
    expect(toFrameError('oops', code)).toEqual({ code, message: 'oops' });
    expect(toFrameError({ code: 'ENOENT' }, code)).toEqual({ code, message: '[object Object]' });
    expect(toFrameError(undefined, code)).toEqual({ code, message: '[object Undefined]' });
  });
});

function expectRefusal(act: () => unknown, message: string): void {
  expect(act).toThrow(GoondanError);
  expect(act).toThrow(message);
  expect(act).toThrow(expect.objectContaining({ code: 'E_IPC_FRAME' }));
}

function sampleOf<Type extends FromAgent['type']>(type: Type): Extract<FromAgent, { type: Type }> {
  const found = fromAgent.find((each) => each.type === type);
  if (found === undefined) throw new Error('no sample');
  return found as Extract<FromAgent, { type: Type }>;
}

function cyclic(): never {
  const cycle: Record<string, unknown> = {};
  cycle.self = cycle;
  return cycle as never;
}
