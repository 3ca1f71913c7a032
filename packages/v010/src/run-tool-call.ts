/** The points around one tool call: `toolCall.pre`, `toolCall.exec` and `toolCall.post`. */
import type { ToolCallMiddlewareContext, ToolCallResult } from '@goondan/types';
import { compatError, resultError } from './compat-error.ts';
import type { Entry } from './entries.ts';
import type { Hosted } from './host-chain.ts';
import type { PointRun } from './old-context.ts';
import type { OldToolCallContext, OldToolResult } from './old-types.ts';
import { runMiddleware, runMutators } from './run-functions.ts';
import { runHooks } from './run-hooks.ts';
import { checkResult, toNewResult, toOldResult } from './tool-result.ts';

export async function runToolCall(hosted: Hosted, ctx: ToolCallMiddlewareContext): Promise<ToolCallResult> {
  const { state, hooks } = hosted;
  const { toolCallId, toolName } = ctx;
  const run: PointRun = { ...hosted, layer: ctx, take: (returned, entry) => takeCall(ctx, returned, entry) };
  const around = state.step?.step.index === ctx.stepIndex ? state.step.fields : outsideStep(state.fields, ctx);
  const toolCall = { id: toolCallId, name: toolName, args: ctx.args };
  const fields = await runMutators(run, 'toolCall.pre', withField(around, { toolCall }));

  const refused = await runHooks(hooks, 'toolCall.pre');
  let before = refused;
  const core = async (): Promise<OldToolResult> => toOldResult((before = await ctx.next()));
  const check = (value: unknown, extension: string) => checkResult(value, ctx, extension, 'toolCall.exec');
  const toolResult =
    refused === undefined ? await runMiddleware(run, 'toolCall.exec', fields, core, check) : toOldResult(refused);

  const ended = await runMutators(run, 'toolCall.post', withField(fields, { toolResult }));
  const { toolResult: result = toolResult } = ended as Partial<OldToolCallContext>;
  const given = toNewResult({ ...result, toolCallId, toolName }, before);
  const replaced = refused === undefined ? await runHooks(hooks, 'toolCall.post', given) : undefined;
  state.addResult(replaced === undefined ? result : toOldResult(replaced));
  return replaced ?? given;
}

/** A layer made the call before, after or between steps. v0.10 had no such calls, so its functions expect a step. */
function outsideStep(fields: object, { turnId, stepIndex, bundleFolder }: ToolCallMiddlewareContext): object {
  const step = { id: `${turnId}.step-${stepIndex}`, index: stepIndex, startedAt: new Date() };
  return withField(fields, { step, toolCatalog: [], blocks: [], activeSwarmRef: bundleFolder });
}

function withField(fields: object, added: object): object {
  return Object.assign(Object.defineProperties({}, Object.getOwnPropertyDescriptors(fields)), added);
}

/** Checks the call and the result that a function left in the context, and gives the arguments to the runtime. */
function takeCall(ctx: ToolCallMiddlewareContext, returned: object, { member, point }: Entry): void {
  const { toolCall, toolResult } = returned as Partial<OldToolCallContext>;
  const { name } = member;
  if (typeof toolCall !== 'object' || toolCall === null) throw resultError(name, point, 'the context has no toolCall');
  refuseOther(ctx, toolCall, name, point);
  if (point === 'toolCall.post') {
    checkResult(toolResult, ctx, name, point);
    return;
  }
  const { args } = toolCall;
  if (args === ctx.args) return;
  if (typeof args !== 'object' || args === null || Array.isArray(args)) {
    throw resultError(name, point, 'toolCall.args is not an object');
  }
  ctx.args = args;
}

function refuseOther(
  { toolCallId, toolName }: ToolCallMiddlewareContext,
  { id, name }: OldToolCallContext['toolCall'],
  extension: string,
  point: string,
): void {
  if (name === toolName && id === toolCallId) return;
  const change =
    name === toolName
      ? `id of a tool call from "${toolCallId}" to "${id}"`
      : `name of a tool call from "${toolName}" to "${name}"`;
  throw compatError(
    extension,
    `changed the ${change} at ${point}`,
    'Return an error result at toolCall.exec that tells the model which tool to call, or hide the tool at step.tools.',
  );
}
