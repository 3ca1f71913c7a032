/** Counts the turns of a conversation in its state. */
import type { ExtensionRegister } from '@goondan/types';

export const register: ExtensionRegister = (api) => {
  api.pipeline.register('turn', async (ctx) => {
    const { turns } = { turns: 0, ...((await api.state.get()) as { turns?: number } | undefined) };
    await api.state.set({ turns: turns + 1, last: ctx.turnId });
    return ctx.next();
  });
};
