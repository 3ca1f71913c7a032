/**
 * `hooks`: calls a tool or runs a command at a point of a turn, without writing an extension.
 *
 * Tool calls of hooks pass through the `toolCall` chain like all others. Commands of hooks do not pass through a chain:
 * this extension runs them itself.
 */
import {
  type ExtensionRegister,
  GoondanError,
  type HookPoint,
  type JsonObject,
  type ModelMiddlewareContext,
  type ModelReply,
  type StepMiddlewareContext,
  type StepResult,
  type ToolCallMiddlewareContext,
  type ToolCallResult,
} from '@goondan/types';
import { compileGlob } from '../../pattern/compile-glob.ts';
import { commandInput, type Ctx, errorFacts, modelFacts, stepFacts, toolCallFacts, turnFacts } from './facts.ts';
import { fillArguments } from './fill-arguments.ts';
import { type Hook, type HooksConfig, nameOf } from './hook.ts';
import { runCommandHook } from './run-command-hook.ts';

type Tools = StepMiddlewareContext['tools'];

export const register: ExtensionRegister<HooksConfig> = (api, { hooks, env = {} }) => {
  const sorted = hooks.map((hook) => ({ ...hook, fits: compileGlob(hook.tool ?? '*') })).toSorted(byPriority);
  // Registers a layer only for the kinds that have hooks, so that an agent without hooks has no extra layer.
  const has = (start: string) => hooks.some(({ point }) => point.startsWith(start));
  /** The `ctx.tools` of running steps, because a model layer has none of its own. */
  const toolsOfSteps = new Map<string, Tools>();

  if (has('turn.')) {
    api.pipeline.register('turn', async (ctx) => {
      await runAll('turn.pre', ctx, ctx.tools, () => turnFacts(ctx));
      const result = await ctx.next();
      await runAll('turn.post', ctx, ctx.tools, () => turnFacts(ctx, result));
      return result;
    });
  }
  if (has('step.')) api.pipeline.register('step', aroundStep);
  if (has('step.llmCall')) api.pipeline.register('model', beforeModelCall);
  if (has('toolCall.')) api.pipeline.register('toolCall', aroundCall, { mayShortCircuit: true });

  async function aroundStep(ctx: StepMiddlewareContext): Promise<StepResult> {
    toolsOfSteps.set(stepOf(ctx), ctx.tools);
    try {
      for (const point of ['step.pre', 'step.config', 'step.tools', 'step.blocks'] as const) {
        await runAll(point, ctx, ctx.tools, () => stepFacts(ctx));
      }
      const result = await nextOrFailure(ctx);
      await runAll('step.post', ctx, ctx.tools, () => stepFacts(ctx, result));
      return result;
    } finally {
      toolsOfSteps.delete(stepOf(ctx));
    }
  }

  /**
   * Runs the rest of the step. If its model call fails, runs the hooks of `step.llmError` before the runtime decides
   * whether to retry. All code extensions are further out, so every other failure comes from a hook.
   */
  async function nextOrFailure(ctx: StepMiddlewareContext): Promise<StepResult> {
    try {
      return await ctx.next();
    } catch (error) {
      if (ctx.signal.aborted || isOfHook(error)) throw error;
      await runAll('step.llmError', ctx, ctx.tools, () => errorFacts(ctx, error));
      throw error;
    }
  }

  /** Runs the hooks before the model call of a step. Model calls of extensions do not belong to a step. */
  async function beforeModelCall(ctx: ModelMiddlewareContext): Promise<ModelReply> {
    if (ctx.extension !== undefined) return ctx.next();
    const tools = toolsOfSteps.get(stepOf(ctx));
    if (tools === undefined) throw new Error('A model call of a step needs a running step.');
    await runAll('step.llmCall', ctx, tools, () => modelFacts(ctx));
    return ctx.next();
  }

  /** Runs the hooks around a tool call. A call that a hook blocks or fails gets an error result that the model can read. */
  async function aroundCall(ctx: ToolCallMiddlewareContext): Promise<ToolCallResult> {
    // A tool call of a hook must not start more tool calls of hooks, because each of these would start the next.
    const tools = ctx.callers.some(({ tier }) => tier === 'hook') ? undefined : ctx.tools;
    try {
      for (const point of ['toolCall.pre', 'toolCall.exec'] as const) {
        await runAll(point, ctx, tools, () => toolCallFacts(ctx));
      }
      const result = await ctx.next();
      await runAll('toolCall.post', ctx, tools, () => toolCallFacts(ctx, result));
      return result;
    } catch (error) {
      if (!isOfHook(error)) throw error;
      const { toolCallId, toolName } = ctx;
      const { code, message, suggestion } = error;
      return { toolCallId, toolName, status: 'error', error: { name: error.name, code, message, suggestion } };
    }
  }

  /**
   * Runs the hooks of a point, lowest priority first; hooks with equal priorities run in the order of the config. Without
   * `tools`, only commands run.
   */
  async function runAll(point: HookPoint, ctx: Ctx, tools: Tools | undefined, facts: () => JsonObject): Promise<void> {
    for (const hook of sorted) {
      if (hook.point !== point || ('toolName' in ctx && hook.fits(ctx.toolName) !== true)) continue;
      if ('command' in hook.action) await runCommand(hook, hook.action, ctx, facts());
      else if (tools !== undefined) await callTool(hook, hook.action.toolCall, tools, facts());
    }
  }

  async function runCommand(
    hook: Hook,
    action: Parameters<typeof runCommandHook>[0],
    ctx: Ctx,
    facts: JsonObject,
  ): Promise<void> {
    const verdict = await runCommandHook(action, commandInput(hook.point, facts), env, ctx);
    if (verdict.blocked !== undefined) {
      throw new GoondanError('E_HOOK_BLOCKED', sentence(`Hook "${nameOf(hook)}" ${verdict.blocked}`));
    }
    if (verdict.warning !== undefined) api.logger.warn(sentence(`Hook "${nameOf(hook)}" ${verdict.warning}`));
  }

  async function callTool(
    hook: Hook,
    { tool, args = {} }: { readonly tool: string; readonly args?: JsonObject },
    tools: Tools,
    facts: JsonObject,
  ): Promise<void> {
    const { status, error } = await tools.call(tool, fillArguments(args, facts));
    if (status !== 'error') return;
    const problem = `${tool} failed: ${error?.message}`;
    if (hook.required === true) {
      throw new GoondanError('E_HOOK_FAILED', `Hook "${nameOf(hook)}" is required, but ${problem}`);
    }
    api.logger.warn(`Hook "${nameOf(hook)}": ${problem}`);
  }
};

/** Adds a full stop, unless the text of a command ends with one. */
function sentence(text: string): string {
  return /[.!?]$/.test(text) ? text : `${text}.`;
}

function byPriority({ priority: one = 0 }: Hook, { priority: other = 0 }: Hook): number {
  return one - other;
}

function stepOf({ turnId, stepIndex }: Pick<StepMiddlewareContext, 'turnId' | 'stepIndex'>): string {
  return `${turnId}/${stepIndex}`;
}

/** Returns true if a hook blocked or failed what it belongs to. */
function isOfHook(error: unknown): error is GoondanError {
  return GoondanError.is(error) && (error.code === 'E_HOOK_BLOCKED' || error.code === 'E_HOOK_FAILED');
}
