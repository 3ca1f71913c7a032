/** Counts the steps of a conversation in the state of the extension, and tells the model. */
import type { ExtensionApi } from '@goondan/types';

export function register(api: ExtensionApi): void {
  api.pipeline.register('step', async (ctx) => {
    const result = await ctx.next();
    const counted = Number((await api.state.get()) ?? 0) + 1;
    await api.state.set(counted);
    return result;
  });
}
