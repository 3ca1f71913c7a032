/** The points of a turn at which declared hooks run, and the way in which an adapter runs them between its own code. */
import type { ExtensionIdentity } from './extension.ts';
import type { StepMiddlewareContext, ToolCallMiddlewareContext, TurnMiddlewareContext } from './middleware.ts';
import type { ToolCallResult } from './tool.ts';

/** The points of a turn at which a hook of `Agent.spec.hooks` can run, in the order of a turn. */
export const hookPoints = [
  'turn.pre',
  'turn.post',
  'step.pre',
  'step.config',
  'step.tools',
  'step.blocks',
  'step.llmCall',
  'step.llmError',
  'step.post',
  'toolCall.pre',
  'toolCall.exec',
  'toolCall.post',
] as const;

export type HookPoint = (typeof hookPoints)[number];

/**
 * The event with which an adapter takes over the hooks of a turn, a step or a tool call, before it calls `next()`:
 * `api.events.emit(TAKE_HOOKS, ctx, (hooks) => …)`. Each extension that runs hooks calls the function once.
 */
export const TAKE_HOOKS = 'goondan.hooks.take';

/** The context of a layer that takes over hooks. */
export type HookedContext = TurnMiddlewareContext | StepMiddlewareContext | ToolCallMiddlewareContext;

/**
 * The hooks of one extension for one turn, step or tool call. From its first `run`, which comes before `next()`, until
 * `end`, only the adapter runs them, except those at `step.llmCall` and `toolCall.exec`, which always run inside all code.
 */
export interface TakenHooks {
  /** The extension of the hooks. This copy is no proof: nobody can call tools in its name. */
  readonly identity: ExtensionIdentity;
  /**
   * Runs the hooks of a point, lower priority first. `outcome`: the result, or at `step.llmError` the error. Returns the
   * error result of a tool call that a hook refused. Throws if a hook refused a turn or a step.
   */
  run(point: HookPoint, outcome?: unknown): Promise<ToolCallResult | undefined>;
  end(): void;
}
