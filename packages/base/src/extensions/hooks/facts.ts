/** Collects the facts at a hook point as JSON, for `expr` and for the standard input of commands. */
import {
  type HookPoint,
  type JsonObject,
  type JsonValue,
  type ModelMiddlewareContext,
  type StepMiddlewareContext,
  type StepResult,
  textOf,
  type ToolCallMiddlewareContext,
  type ToolCallResult,
  type TurnMiddlewareContext,
  type TurnResult,
} from '@goondan/types';
import { isObject } from '../../json/is-object.ts';

/** The context of the turn, step, model call or tool call at which a hook runs. */
export type Ctx = TurnMiddlewareContext | StepMiddlewareContext | ModelMiddlewareContext | ToolCallMiddlewareContext;

/** Returns the facts at a point. `outcome`: the result of the turn, step or tool call, or the error of the model call. */
export function factsOf(point: HookPoint, ctx: Ctx, outcome: unknown): JsonObject {
  // The casts are safe: the outcome is that of the point.
  if ('inputEvent' in ctx) return turnFacts(ctx, outcome as TurnResult | undefined);
  if ('toolName' in ctx) return toolCallFacts(ctx, outcome as ToolCallResult | undefined);
  if ('messages' in ctx) return modelFacts(ctx);
  return point === 'step.llmError' ? errorFacts(ctx, outcome) : stepFacts(ctx, outcome as StepResult | undefined);
}

export function turnFacts(ctx: TurnMiddlewareContext, result?: TurnResult): JsonObject {
  const { id, type, input, metadata } = ctx.inputEvent;
  return {
    ...whereOf(ctx),
    event: toJson({ id, type, input, metadata }),
    ...(result === undefined ? {} : { result: toJson({ ...result, text: textOf(result.responseMessage) }) }),
  };
}

export function stepFacts(ctx: StepMiddlewareContext, result?: StepResult): JsonObject {
  return {
    ...whereOf(ctx),
    stepIndex: ctx.stepIndex,
    tools: ctx.toolCatalog.map(({ name }) => name),
    ...(result === undefined ? {} : { result: toJson(result) }),
  };
}

/** Collects the facts before a model call: exactly what the model gets. */
export function modelFacts(ctx: ModelMiddlewareContext): JsonObject {
  return {
    ...whereOf(ctx),
    stepIndex: ctx.stepIndex,
    tools: ctx.tools.map(({ name }) => name),
    model: ctx.modelRef,
    messages: toJson(ctx.messages),
  };
}

/** Collects the facts after a failed model call. */
export function errorFacts(ctx: StepMiddlewareContext, thrown: unknown): JsonObject {
  const { code, retryable, retryAfterMs } = isObject(thrown) ? thrown : {};
  const message = thrown instanceof Error ? thrown.message : String(thrown);
  return { ...stepFacts(ctx), error: toJson({ code, message, retryable: retryable === true, retryAfterMs }) };
}

export function toolCallFacts(ctx: ToolCallMiddlewareContext, result?: ToolCallResult): JsonObject {
  return {
    ...whereOf(ctx),
    stepIndex: ctx.stepIndex,
    tool: { name: ctx.toolName, callId: ctx.toolCallId, args: ctx.args },
    ...(result === undefined ? {} : { result: toJson(result) }),
  };
}

/** Creates the input of a command, in the format that the hooks of other agents use. */
export function commandInput(point: HookPoint, facts: JsonObject): JsonObject {
  const { tool, event, workdir, result } = facts;
  return {
    session_id: `${textAt(facts, 'agentName')}/${textAt(facts, 'instanceKey')}`,
    cwd: workdir ?? null,
    hook_event_name: eventNames[point],
    ...(isObject(tool) ? { tool_name: tool.name ?? null, tool_input: tool.args ?? null } : {}),
    ...(isObject(tool) && result !== undefined ? { tool_response: result } : {}),
    ...(isObject(event) ? { prompt: event.input ?? null } : {}),
    point,
    goondan: facts,
  };
}

const eventNames: Record<HookPoint, string> = {
  'turn.pre': 'UserPromptSubmit',
  'turn.post': 'Stop',
  'step.pre': 'PreStep',
  'step.config': 'StepConfig',
  'step.tools': 'StepTools',
  'step.blocks': 'StepBlocks',
  'step.llmCall': 'PreModelCall',
  'step.llmError': 'ModelCallFailed',
  'step.post': 'PostStep',
  'toolCall.pre': 'PreToolUse',
  'toolCall.exec': 'ToolUse',
  'toolCall.post': 'PostToolUse',
};

function whereOf({ agentName, instanceKey, turnId, traceId, workdir, bundleFolder }: Ctx): JsonObject {
  return { agentName, instanceKey, turnId, traceId, workdir, bundleFolder };
}

/** Converts a value to JSON: dates become texts, and undefined values are left out. */
function toJson(value: object): JsonValue {
  return JSON.parse(JSON.stringify(value)) as JsonValue;
}

function textAt(facts: JsonObject, key: string): string {
  const value = facts[key];
  return typeof value === 'string' ? value : '';
}
