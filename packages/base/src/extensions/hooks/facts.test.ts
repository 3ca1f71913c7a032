import { expect, test } from 'bun:test';
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

test('facts are those of the context, and all points have those of the turn', () => {
  const all = [turnFacts(turn), modelFacts(model), stepFacts(step), toolCallFacts(call), errorFacts(step, 'x')];
  expect(all).toMatchObject(all.map(() => where));
  expect(turnFacts(turn)).toMatchObject({ event: inputEvent });
  expect(toolCallFacts(call)).toMatchObject({ tool: { name: 'x', callId: 'c', args: {} } });
  const failure = errorFacts(step, { code: 'E_X', retryable: true, retryAfterMs: 5 });
  expect(Object.keys(failure['error'] ?? {})).toEqual(['code', 'message', 'retryable', 'retryAfterMs']);
});

test('a bundle is checked against the facts of each point', () => {
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

test('a command reads the fields that the hooks of other agents have', () => {
  const common = { session_id: 'a/k', cwd: '/w' };
  expect(commandInput('turn.pre', turnFacts(turn))).toMatchObject({ ...common, prompt: 'hello', point: 'turn.pre' });
  expect(commandInput('toolCall.post', toolCallFacts(call, toolResult))).toEqual({
    ...common,
    hook_event_name: 'PostToolUse',
    tool_name: 'x',
    tool_input: {},
    tool_response: toolResult,
    point: 'toolCall.post',
    goondan: toolCallFacts(call, toolResult),
  });
  expect(commandInput('toolCall.pre', toolCallFacts(call))).not.toHaveProperty('tool_response');
  expect(hookPoints.map((point) => commandInput(point, stepFacts(step))['hook_event_name'])).toEqual([
    ...['UserPromptSubmit', 'Stop', 'PreStep', 'StepConfig', 'StepTools', 'StepBlocks'],
    ...['PreModelCall', 'ModelCallFailed', 'PostStep', 'PreToolUse', 'ToolUse', 'PostToolUse'],
  ]);
});
