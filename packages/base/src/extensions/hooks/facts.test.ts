import { expect, test } from 'bun:test';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type HookPoint,
  hookPoints,
  type ModelMiddlewareContext,
  type StepMiddlewareContext,
  type ToolCallMiddlewareContext,
  type TurnMiddlewareContext,
} from '@goondan/types';
import { commandInput, errorFacts, modelFacts, stepFacts, toolCallFacts, turnFacts } from './facts.ts';
import { factsAt } from '../../../../runtime/src/config/bundle/kinds/hook-facts.ts';

const page = readFileSync(join(import.meta.dir, '../../../../../docs/base/hooks.md'), 'utf8');
const namesIn = (text: string) => [...text.matchAll(/`([^`]+)`/g)].map(([, name = '']) => name);

/** Returns the cell beside `label` in the first table with such a row. */
function cellOf(label: string): string {
  const row = page.split('\n').find((line) => line.startsWith(`| ${label} `));
  return row?.split('|')[2] ?? '';
}

const where = { agentName: 'a', instanceKey: 'k', turnId: 't', traceId: 'r', workdir: '/w', bundleFolder: '/b' };
const inputEvent = { id: 'e', type: 'user.message', input: 'hello', metadata: {} };
// The casts are safe: facts read only these fields of a context.
const turn = { ...where, inputEvent } as unknown as TurnMiddlewareContext;
const step = { ...where, stepIndex: 0, toolCatalog: [] } as unknown as StepMiddlewareContext;
const call = {
  ...where,
  stepIndex: 0,
  toolName: 'x',
  toolCallId: 'c',
  args: {},
} as unknown as ToolCallMiddlewareContext;
const model = {
  ...where,
  stepIndex: 0,
  tools: [],
  modelRef: 'Model/m',
  messages: [],
} as unknown as ModelMiddlewareContext;
const toolResult = { toolCallId: 'c', toolName: 'x', status: 'ok' } as const;

test('docs/base/hooks.md lists the points, and the facts of each', () => {
  const common = namesIn(cellOf('all'));
  expect(common).toEqual(Object.keys(where));
  expect(namesIn(cellOf('`point`'))).toEqual([...hookPoints]);
  const added = (facts: object) => Object.keys(facts).filter((name) => !common.includes(name));

  expect(namesIn(cellOf('a turn'))).toEqual(['event', ...Object.keys(inputEvent), 'turn.post', 'result', 'text']);
  expect(added(turnFacts(turn, { turnId: 't', finishReason: 'text_response' }))).toEqual(['event', 'result']);
  expect(namesIn(cellOf('a step'))).toEqual([
    'stepIndex',
    'tools',
    ...['step.llmCall', 'model', 'messages'],
    ...['step.llmError', 'error', 'code', 'message', 'retryable', 'retryAfterMs'],
    ...['step.post', 'result'],
  ]);
  expect(added(modelFacts(model))).toEqual(['stepIndex', 'tools', 'model', 'messages']);
  const failure = errorFacts(step, { code: 'E_X', retryable: true, retryAfterMs: 5 });
  expect(added(failure)).toEqual(['stepIndex', 'tools', 'error']);
  expect(Object.keys(failure['error'] ?? {})).toEqual(['code', 'message', 'retryable', 'retryAfterMs']);
  expect(
    added(stepFacts(step, { status: 'completed', hasToolCalls: false, toolCalls: [], toolResults: [], metadata: {} })),
  ).toEqual(['stepIndex', 'tools', 'result']);
  const { tool } = toolCallFacts(call);
  expect(namesIn(cellOf('a tool call'))).toEqual([
    'stepIndex',
    'tool',
    ...Object.keys(tool ?? {}),
    'toolCall.post',
    'result',
  ]);
  expect(added(toolCallFacts(call, toolResult))).toEqual(['stepIndex', 'tool', 'result']);
});

test('D-11 a bundle is checked against the facts of each point', () => {
  const turnResult = { turnId: 't', finishReason: 'text_response' } as const;
  const stepResult = { hasToolCalls: false, toolCalls: [], toolResults: [], metadata: {} };
  const special: Partial<Record<HookPoint, object>> = {
    'turn.post': turnFacts(turn, turnResult),
    'step.llmCall': modelFacts(model),
    'step.llmError': errorFacts(step, new Error('busy')),
    'step.post': stepFacts(step, { status: 'completed', ...stepResult }),
    'toolCall.post': toolCallFacts(call, toolResult),
  };
  const before = { turn: turnFacts(turn), step: stepFacts(step), toolCall: toolCallFacts(call) };
  for (const point of hookPoints) {
    const [start] = point.split('.') as [keyof typeof before]; // Safe: the start of every point is a key.
    expect(factsAt(point), point).toEqual(Object.keys(special[point] ?? before[start]));
  }
});

test('docs/base/hooks.md lists the fields that a command reads', () => {
  const inputs = [
    ...hookPoints.filter((point) => point.startsWith('turn')).map((point) => commandInput(point, turnFacts(turn))),
    ...hookPoints.filter((point) => point.startsWith('step')).map((point) => commandInput(point, stepFacts(step))),
    ...hookPoints
      .filter((point) => point.startsWith('toolCall'))
      .map((point) => commandInput(point, toolCallFacts(call, toolResult))),
  ];
  const section = (page.split('## Running a command')[1] ?? '').split('\n|')[0] ?? '';
  const listed = namesIn(section);
  expect(inputs).toHaveLength(hookPoints.length);
  for (const input of inputs) {
    expect(Object.keys(input).filter((name) => !listed.includes(name))).toEqual([]);
    expect<unknown[]>(listed).toContain(input['hook_event_name']);
  }
});
