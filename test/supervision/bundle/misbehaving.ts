/** An extension that misbehaves: at its start, in its cleanup, or in a turn whose input says so. */
import type { ExtensionRegister } from '@goondan/types';
import { misbehave } from './misdeeds.ts';

export const register: ExtensionRegister<{ atStart?: string; atEnd?: string }> = async (api, { atStart, atEnd }) => {
  await misbehave(atStart);
  api.pipeline.register('turn', async (ctx) => {
    const deed = /^layer (\S+)/.exec(ctx.inputEvent.input ?? '')?.[1];
    await misbehave(deed);
    return ctx.next();
  });
  return async () => {
    await misbehave(atEnd);
  };
};
