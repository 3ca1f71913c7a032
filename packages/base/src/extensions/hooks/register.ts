/**
 * `hooks`: calls a tool or runs a command at a point of a turn, without writing an extension.
 *
 * Tool calls of hooks pass through the `toolCall` chain like all others. Commands of hooks do not pass through a chain:
 * this extension runs them itself.
 */
import {
  type ExtensionRegister,
  GoondanError,
  type HookedContext,
  type HookPoint,
  type JsonObject,
  type ModelMiddlewareContext,
  type ModelReply,
  type StepMiddlewareContext,
  type StepResult,
  TAKE_HOOKS,
  type TakenHooks,
  type ToolCallMiddlewareContext,
  type ToolCallResult,
} from '@goondan/types';
import { compileGlob } from '../../pattern/compile-glob.ts';
import { commandInput, type Ctx, factsOf } from './facts.ts';
import { fillArguments } from './fill-arguments.ts';
import { type Hook, type HooksConfig, nameOf } from './hook.ts';
import { runCommandHook } from './run-command-hook.ts';

type Tools = StepMiddlewareContext['tools'];

export const register: ExtensionRegister<HooksConfig> = (api, { hooks, env = {} }, identity) => {
  const sorted = hooks.map((hook) => ({ ...hook, fits: compileGlob(hook.tool ?? '*') })).toSorted(byPriority);
  // Registers a layer only for the kinds that have hooks, so that an agent without hooks has no extra layer.
  const has = (start: string) => hooks.some(({ point }) => point.startsWith(start));
  /** The `ctx.tools` of running steps, because a model layer has none of its own. */
  const toolsOfSteps = new Map<string, Tools>();
  /** The turns, steps and tool calls whose hooks an adapter runs, outside of the layers of this extension. */
  const taken = new Map<string, { modelFailed: boolean }>();

  api.events.on(TAKE_HOOKS, (ctx, give) => {
    // Safe: the event is that of an adapter, which passes its context and a function.
    if (typeof give === 'function') give(takeHooks(ctx as HookedContext));
  });
  if (has('turn.')) {
    api.pipeline.register('turn', async (ctx) => {
      if (taken.has(chainOf(ctx))) return ctx.next();
      await runAll('turn.pre', ctx, ctx.tools);
      const result = await ctx.next();
      await runAll('turn.post', ctx, ctx.tools, result);
      return result;
    });
  }
  if (has('step.')) api.pipeline.register('step', aroundStep);
  if (has('step.llmCall')) api.pipeline.register('model', beforeModelCall);
  if (has('toolCall.')) api.pipeline.register('toolCall', aroundCall, { mayShortCircuit: true });

  function takeHooks(ctx: HookedContext): TakenHooks {
    const chain = { modelFailed: false };
    const { name, position } = identity;
    return {
      // A copy, because whoever has the identity itself can act in the name of this extension.
      identity: { name, position },
      async run(point, outcome) {
        // Not before, so that an extension that runs no hooks cannot prevent that they run.
        taken.set(chainOf(ctx), chain);
        if ('toolName' in ctx) return findRefusal(point, ctx, outcome);
        if (point !== 'step.llmError' || chain.modelFailed) await runAll(point, ctx, ctx.tools, outcome);
        return undefined;
      },
      end: () => void taken.delete(chainOf(ctx)),
    };
  }

  async function aroundStep(ctx: StepMiddlewareContext): Promise<StepResult> {
    toolsOfSteps.set(chainOf(ctx), ctx.tools);
    const chain = taken.get(chainOf(ctx));
    try {
      if (chain !== undefined) return await nextOrFailure(ctx, async () => void (chain.modelFailed = true));
      for (const point of ['step.pre', 'step.config', 'step.tools', 'step.blocks'] as const) {
        await runAll(point, ctx, ctx.tools);
      }
      const result = await nextOrFailure(ctx, (error) => runAll('step.llmError', ctx, ctx.tools, error));
      await runAll('step.post', ctx, ctx.tools, result);
      return result;
    } finally {
      toolsOfSteps.delete(chainOf(ctx));
    }
  }

  /**
   * Runs the rest of the step. Calls `modelFailed` if its model call fails, before the runtime decides whether to retry.
   * All code extensions are further out, so every other failure comes from a hook.
   */
  async function nextOrFailure(
    ctx: StepMiddlewareContext,
    modelFailed: (error: unknown) => Promise<void>,
  ): Promise<StepResult> {
    try {
      return await ctx.next();
    } catch (error) {
      if (!ctx.signal.aborted && !isOfHook(error)) await modelFailed(error);
      throw error;
    }
  }

  /** Runs the hooks before the model call of a step. Model calls of extensions do not belong to a step. */
  async function beforeModelCall(ctx: ModelMiddlewareContext): Promise<ModelReply> {
    if (ctx.extension !== undefined) return ctx.next();
    const tools = toolsOfSteps.get(chainOf(ctx));
    if (tools === undefined) throw new Error('A model call of a step needs a running step.');
    await runAll('step.llmCall', ctx, tools);
    return ctx.next();
  }

  /** Runs the hooks around a tool call. */
  async function aroundCall(ctx: ToolCallMiddlewareContext): Promise<ToolCallResult> {
    const isTaken = taken.has(chainOf(ctx));
    const refusedBefore = isTaken ? undefined : await findRefusal('toolCall.pre', ctx);
    const refused = refusedBefore ?? (await findRefusal('toolCall.exec', ctx));
    if (refused !== undefined) return refused;
    const result = await ctx.next();
    const refusedAfter = isTaken ? undefined : await findRefusal('toolCall.post', ctx, result);
    return refusedAfter ?? result;
  }

  /** Runs the hooks of a tool call. If one blocks or fails it, returns the error result that the model can read. */
  async function findRefusal(
    point: HookPoint,
    ctx: ToolCallMiddlewareContext,
    outcome?: unknown,
  ): Promise<ToolCallResult | undefined> {
    // A tool call of a hook must not start more tool calls of hooks, because each of these would start the next.
    const tools = ctx.callers.some(({ tier }) => tier === 'hook') ? undefined : ctx.tools;
    try {
      await runAll(point, ctx, tools, outcome);
      return undefined;
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
  async function runAll(point: HookPoint, ctx: Ctx, tools: Tools | undefined, outcome?: unknown): Promise<void> {
    for (const hook of sorted) {
      if (hook.point !== point || ('toolName' in ctx && hook.fits(ctx.toolName) !== true)) continue;
      if ('command' in hook.action) await runCommand(hook, hook.action, ctx, factsOf(point, ctx, outcome));
      else if (tools !== undefined) await callTool(hook, hook.action.toolCall, tools, factsOf(point, ctx, outcome));
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
    const { status, error } = await tools.call(tool, fillArguments(args, facts), identity);
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

/** Returns a key of the turn, step or tool call of a context. A model call has the key of its step. */
function chainOf(ctx: Ctx): string {
  const { turnId } = ctx;
  if ('inputEvent' in ctx) return turnId;
  return 'toolName' in ctx ? `${turnId}/${ctx.stepIndex}/${ctx.toolCallId}` : `${turnId}/${ctx.stepIndex}`;
}

/** Returns true if a hook blocked or failed what it belongs to. */
function isOfHook(error: unknown): error is GoondanError {
  return GoondanError.is(error) && (error.code === 'E_HOOK_BLOCKED' || error.code === 'E_HOOK_FAILED');
}
