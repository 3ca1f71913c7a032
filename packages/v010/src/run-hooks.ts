/**
 * The declared hooks of the agent. At each point, all functions of old extensions come first, then all hooks (003 §7.3).
 * Only their own extension runs them; here they get their turn.
 */
import { type HookedContext, type HookPoint, TAKE_HOOKS, type TakenHooks, type ToolCallResult } from '@goondan/types';
import { attribute } from './compat-error.ts';
import type { Member } from './member.ts';

/** Takes over the hooks of a turn, step or tool call. They belong to the order of this chain until `end`. */
export function takeHooks({ api }: Member, ctx: HookedContext): readonly TakenHooks[] {
  const taken: TakenHooks[] = [];
  api.events.emit(TAKE_HOOKS, ctx, (hooks: TakenHooks) => taken.push(hooks));
  return taken.toSorted((one, other) => one.identity.position - other.identity.position);
}

/** Runs the hooks of a point. Returns the error result of a tool call that a hook refused. */
export async function runHooks(
  taken: readonly TakenHooks[],
  point: HookPoint,
  outcome?: unknown,
): Promise<ToolCallResult | undefined> {
  for (const hooks of taken) {
    try {
      const refused = await hooks.run(point, outcome);
      if (refused !== undefined) return refused;
    } catch (error) {
      throw attribute(error, hooks.identity.name);
    }
  }
  return undefined;
}
