// Asks one agent before the turn and tells another one after it.
import type { ExtensionApi } from '@goondan/types';

export function register(api: ExtensionApi) {
// verbatim from seed 004, 1.3
api.pipeline.register('turn', async (ctx) => {
  const preload = await ctx.agents.request({
    target: 'retriever',
    input: 'Find relevant context for this user input',
    timeoutMs: 5000,
  });

  if (preload.response.length > 0) {
    ctx.metadata.preloadedContext = preload.response;
  }

  const result = await ctx.next();

  await ctx.agents.send({
    target: 'observer',
    input: `turn=${ctx.turnId} finish=${result.finishReason}`,
  });

  return result;
});
// end of verbatim
}
