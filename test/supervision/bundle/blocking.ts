/** An extension whose layers block their process in the turns whose input says so: `block step`, `block after model`. */
import type { ExtensionRegister } from '@goondan/types';
import { misbehave } from './misdeeds.ts';

export const register: ExtensionRegister = ({ pipeline }) => {
  let wanted = '';
  const block = (place: string) => (wanted === place ? misbehave('block-forever') : undefined);
  for (const kind of ['turn', 'step', 'toolCall', 'model'] as const) {
    // The cast is needed because one function serves all four kinds, but each overload takes one kind.
    pipeline.register(kind as 'turn', async (ctx) => {
      if (kind === 'turn') wanted = /\bblock (.+)$/.exec(ctx.inputEvent.input ?? '')?.[1] ?? '';
      await block(kind);
      const result = await ctx.next();
      await block(`after ${kind}`);
      return result;
    });
  }
};
