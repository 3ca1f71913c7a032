import { describe, expect, test } from 'bun:test';
import type { RuntimeEventName } from '@goondan/types';
import { extension, manualClock, scriptedAgent, type ScriptedAgentOptions } from '../../testing/index.ts';
import { beforeNext } from '../../testing/one-layer.ts';
import type { ToolDeclaration } from '../tool/load-tool.ts';

const weather: ToolDeclaration = {
  name: 'weather',
  exports: [{ name: 'get', description: 'The weather of a city.' }],
  handlers: {
    get: (_ctx, { city }) => {
      if (city === 'Atlantis') throw new Error('no such city');
      return 'sunny';
    },
  },
};

const call = (city: string) => [
  { when: 'weather', call: { tool: 'weather__get', args: { city } } },
  { afterTool: 'weather__get', say: 'done' },
];

/** Runs a turn. Returns the payloads that an extension gets, each with its event name. */
async function tell(options: ScriptedAgentOptions) {
  const told: { name: string; args: unknown[] }[] = [];
  const names: readonly RuntimeEventName[] = [
    'turn.started',
    'turn.completed',
    'turn.failed',
    'step.started',
    'step.completed',
    'step.failed',
    'tool.called',
    'tool.completed',
    'tool.failed',
  ];
  const agent = await scriptedAgent({
    agentName: 'coder',
    instanceKey: 'room-1',
    tools: [weather],
    ...options,
    extensions: [
      extension('listener', ({ events }) => {
        // The extension listens to all events.
        for (const name of names) events.on(name as string, (...args) => told.push({ name, args }));
      }),
      ...(options.extensions ?? []),
    ],
  });
  await agent.say('weather?', { event: { id: 'e1' } });
  return told;
}

const thrower = (kind: 'turn' | 'step' | 'toolCall') =>
  extension('thrower', ({ pipeline }) => {
    const fail = () => Promise.reject(new Error(`${kind} broke`));
    if (kind === 'turn') pipeline.register(kind, fail);
    else if (kind === 'step') pipeline.register(kind, fail);
    else pipeline.register(kind, fail);
  });

const spanId = expect.stringMatching(/^[0-9a-f]{16}$/);
const turn = {
  turnId: 'turn-e1',
  agentName: 'coder',
  instanceKey: 'room-1',
  timestamp: expect.any(String),
  traceId: 'trace-1',
  spanId,
};
const step = (stepIndex: number) => ({
  stepId: `turn-e1.step-${stepIndex}`,
  stepIndex,
  turnId: 'turn-e1',
  agentName: 'coder',
  timestamp: expect.any(String),
  traceId: 'trace-1',
  spanId,
  parentSpanId: spanId,
});
const tool = {
  toolCallId: 'call_1',
  toolName: 'weather__get',
  args: '{"city":"Seoul"}',
  stepId: 'turn-e1.step-0',
  turnId: 'turn-e1',
  agentName: 'coder',
  timestamp: expect.any(String),
  traceId: 'trace-1',
  spanId,
  parentSpanId: spanId,
};
const duration = expect.any(Number);
const usage = { inputTokens: expect.any(Number), outputTokens: expect.any(Number), totalTokens: expect.any(Number) };

describe('the runtime events', () => {
  test('X-14 have exactly these fields, in this order, for a turn that succeeds', async () => {
    expect(await tell({ script: call('Seoul') })).toEqual([
      { name: 'turn.started', args: [turn] },
      { name: 'step.started', args: [step(0)] },
      { name: 'tool.called', args: [tool] },
      { name: 'tool.completed', args: [{ ...tool, status: 'ok', duration }] },
      { name: 'step.completed', args: [{ ...step(0), toolCallCount: 1, duration }] },
      { name: 'step.started', args: [step(1)] },
      { name: 'step.completed', args: [{ ...step(1), toolCallCount: 0, duration }] },
      { name: 'turn.completed', args: [{ ...turn, stepCount: 2, duration, usage }] },
    ]);
  });

  test('X-14 have the fields of the started ones, and the error, for a turn that fails', async () => {
    const error = expect.objectContaining({ code: 'E_MODEL_FAILED', message: 'overloaded' });
    const noUsage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
    expect(await tell({ script: [{ fail: { message: 'overloaded' } }] })).toEqual([
      { name: 'turn.started', args: [turn] },
      { name: 'step.started', args: [step(0)] },
      { name: 'step.failed', args: [{ ...step(0), duration, error, willRetry: false }] },
      { name: 'turn.failed', args: [{ ...turn, stepCount: 0, duration, usage: noUsage, error }] },
    ]);
  });

  test('X-14 are a failed step, then a new one, for a retry', async () => {
    const told = await tell({ script: [{ fail: { message: 'busy', retryable: true, times: 1 } }, { say: 'done' }] });
    expect(told.slice(1, 5)).toEqual([
      { name: 'step.started', args: [step(0)] },
      {
        name: 'step.failed',
        args: [{ ...step(0), duration, error: expect.objectContaining({ message: 'busy' }), willRetry: true }],
      },
      { name: 'step.started', args: [step(1)] },
      { name: 'step.completed', args: [{ ...step(1), toolCallCount: 0, duration }] },
    ]);
  });

  test.each([
    ['turn', ['turn.started', 'turn.failed']],
    ['step', ['turn.started', 'step.started', 'step.failed', 'turn.failed']],
  ] as const)('P-12 name the extension in the error when a %s layer throws', async (kind, names) => {
    const told = await tell({ extensions: [thrower(kind)] });
    expect(told.map(({ name }) => name)).toEqual([...names]);
    expect(told.at(-1)?.args[0]).toMatchObject({
      error: { message: `${kind} broke`, code: 'E_EXT_MIDDLEWARE', extension: 'thrower' },
    });
  });

  test('X-14 a call with an error result ends with tool.completed only', async () => {
    const told = await tell({ script: call('Atlantis') });
    const called = { ...tool, args: '{"city":"Atlantis"}' };
    const error = expect.objectContaining({ code: 'E_TOOL_FAILED', message: expect.stringContaining('no such city') });
    expect(told.filter(({ name }) => name.startsWith('tool.'))).toEqual([
      { name: 'tool.called', args: [called] },
      { name: 'tool.completed', args: [{ ...called, status: 'error', duration, error }] },
    ]);
  });

  test('X-14 a call whose chain threw ends with tool.failed only', async () => {
    const told = await tell({ script: call('Seoul'), extensions: [thrower('toolCall')] });
    expect(told.filter(({ name }) => name.startsWith('tool.'))).toEqual([
      { name: 'tool.called', args: [tool] },
      {
        name: 'tool.failed',
        args: [
          { ...tool, duration, error: { message: 'toolCall broke', code: 'E_EXT_MIDDLEWARE', extension: 'thrower' } },
        ],
      },
    ]);
  });

  test('X-14 every call ends exactly once', async () => {
    const calls = ['weather__get', 'nowhere__get', 'weather__get'].map((name) => ({
      tool: name,
      args: { city: 'Atlantis' },
    }));
    const breaking = beforeNext('breaking', 'toolCall', (ctx) => {
      if (ctx.toolCallId === 'call_3') throw new Error('toolCall broke');
    });
    const told = await tell({ script: [{ when: 'weather', calls }, { say: 'done' }], extensions: [breaking] });
    const ends = told.filter(({ name }) => name === 'tool.completed' || name === 'tool.failed');
    expect(ends.map(({ name, args }) => [name, Reflect.get(Object(args[0]), 'toolCallId')])).toEqual([
      ['tool.completed', 'call_1'],
      ['tool.completed', 'call_2'],
      ['tool.failed', 'call_3'],
    ]);
  });

  test('X-14 timestamps are ISO strings and durations milliseconds', async () => {
    const clock = manualClock(new Date('2026-01-02T03:04:05.000Z'));
    const slow = beforeNext('slow', 'toolCall', () => clock.advance(250));
    const told = await tell({ clock, script: call('Seoul'), extensions: [slow] });
    const of = (name: string) => told.find((event) => event.name === name)?.args[0];
    expect(of('turn.started')).toHaveProperty('timestamp', '2026-01-02T03:04:05.000Z');
    expect(of('tool.completed')).toMatchObject({ timestamp: '2026-01-02T03:04:05.250Z', duration: 250 });
    expect(of('step.completed')).toHaveProperty('duration', 250);
    expect(of('turn.completed')).toHaveProperty('duration', 250);
  });
});
