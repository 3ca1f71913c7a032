/** In each chain, the layer of one old extension runs the functions of all of them, and the declared hooks. */
import type { HookedContext, TakenHooks } from '@goondan/types';
import type { Member } from './member.ts';
import { takeHooks } from './run-hooks.ts';
import { TurnState } from './turn-state.ts';

/** The part of a chain that a layer needs to become the first one. */
export interface Hosted {
  readonly state: TurnState;
  /** The old extensions of the chain, in order. */
  readonly members: readonly Member[];
  /** The declared hooks of the chain; none for a model call, where they are inside all extensions. */
  readonly hooks: readonly TakenHooks[];
}

/**
 * Calls `run` if the layer of this member is the first one in its chain, which runs the functions of all members. Every
 * other layer only calls `next()`.
 */
export async function hostChain<Result>(
  member: Member,
  ctx: { readonly turnId: string; next(): Promise<Result> },
  chain: string,
  run: (hosted: Hosted) => Promise<Result>,
): Promise<Result> {
  if (member.turn?.turnId === ctx.turnId && member.turn.running.has(chain)) return ctx.next();
  const found = member.findAll();
  const members = found.includes(member) ? found : [member, ...found];
  const state = members.find(({ turn }) => turn?.turnId === ctx.turnId)?.turn ?? new TurnState(ctx);
  for (const each of members) each.turn = state;
  if (state.running.has(chain)) return ctx.next();
  state.running.add(chain);
  const hooks = hasHooks(ctx) ? takeHooks(member, ctx) : [];
  try {
    return await run({ state, members, hooks });
  } finally {
    for (const each of hooks) each.end();
    state.running.delete(chain);
  }
}

function hasHooks(ctx: object): ctx is HookedContext {
  return !('modelRef' in ctx);
}
