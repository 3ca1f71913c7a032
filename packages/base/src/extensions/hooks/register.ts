/**
 * `hooks`: calls a tool or runs a command at a point of a turn, without writing an extension.
 *
 * Tool calls of hooks pass through the `toolCall` chain like all others. Commands of hooks do not pass through a chain:
 * this extension runs them itself.
 */
import {
  type ExtensionRegister,
  GoondanError,
  type JsonObject,
  type ToolCallMiddlewareContext,
  type ToolCallResult,
} from '@goondan/types';
import { compileGlob } from '../../pattern/compile-pattern.ts';
import { commandInput, type Ctx, stepFacts, toolCallFacts, turnFacts } from './facts.ts';
import { fillArguments } from './fill-arguments.ts';
import { type Hook, type HookPoint, type HooksConfig, nameOf } from './hook.ts';
import { runCommandHook } from './run-command-hook.ts';

export const register: ExtensionRegister<HooksConfig> = (api, { hooks, env = {} }) => {
  const sorted = hooks.map((hook) => ({ ...hook, fits: compileGlob(hook.tool ?? '*') })).toSorted(byPriority);
  const at = (point: HookPoint) => sorted.filter((hook) => hook.point === point);
  // Registers a layer only for the kinds that have hooks, so that an agent without hooks has no extra layer.
  const has = (kind: string) => hooks.some(({ point }) => point.startsWith(`${kind}.`));

  if (has('turn')) {
    api.pipeline.register('turn', async (ctx) => {
      await runAll('turn.pre', ctx, () => turnFacts(ctx));
      const result = await ctx.next();
      await runAll('turn.post', ctx, () => turnFacts(ctx, result));
      return result;
    });
  }
  if (has('step')) {
    api.pipeline.register('step', async (ctx) => {
      await runAll('step.pre', ctx, () => stepFacts(ctx));
      const result = await ctx.next();
      await runAll('step.post', ctx, () => stepFacts(ctx, result));
      return result;
    });
  }
  if (has('toolCall')) {
    api.pipeline.register('toolCall', aroundCall, { mayShortCircuit: true });
  }

  /** Runs the hooks around a tool call. A blocked call gets an error result that the model can read. */
  async function aroundCall(ctx: ToolCallMiddlewareContext): Promise<ToolCallResult> {
    try {
      await runAll('toolCall.pre', ctx, () => toolCallFacts(ctx));
      const result = await ctx.next();
      await runAll('toolCall.post', ctx, () => toolCallFacts(ctx, result));
      return result;
    } catch (error) {
      if (!(GoondanError.is(error) && error.code === 'E_HOOK_BLOCKED')) throw error;
      const { toolCallId, toolName } = ctx;
      const { code, message, suggestion } = error;
      return { toolCallId, toolName, status: 'error', error: { name: error.name, code, message, suggestion } };
    }
  }

  /** Runs the hooks of a point, lowest priority first; hooks with equal priorities run in the order of the config. */
  async function runAll(point: HookPoint, ctx: Ctx, facts: () => JsonObject): Promise<void> {
    for (const hook of at(point)) {
      if ('toolName' in ctx && hook.fits(ctx.toolName) !== true) continue;
      await run(hook, ctx, facts());
    }
  }

  async function run(hook: Hook, ctx: Ctx, facts: JsonObject): Promise<void> {
    const { action, point } = hook;
    if ('command' in action) {
      const verdict = await runCommandHook(action, commandInput(point, facts), env, ctx);
      if (verdict.blocked !== undefined) throw blocked(hook, verdict.blocked);
      if (verdict.warning !== undefined) api.logger.warn(`Hook "${nameOf(hook)}": ${verdict.warning}`);
      return;
    }
    // The schema does not allow this action at the points of a tool call.
    if ('toolName' in ctx) return;
    const { tool, args = {} } = action.toolCall;
    const { status, error } = await ctx.tools.call(tool, fillArguments(args, facts));
    if (status === 'error') api.logger.warn(`Hook "${nameOf(hook)}": ${tool} failed: ${error?.message ?? 'no reason'}`);
  }
};

function byPriority({ priority: one = 0 }: Hook, { priority: other = 0 }: Hook): number {
  return one - other;
}

function blocked(hook: Hook, reason: string): GoondanError {
  return new GoondanError('E_HOOK_BLOCKED', `Hook "${nameOf(hook)}" has blocked this: ${reason}`);
}
