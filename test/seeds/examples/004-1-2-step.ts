// Hides dangerous tools.
import type { ExtensionApi } from '@goondan/types';

export function register(api: ExtensionApi) {
// verbatim from seed 004, 1.2
api.pipeline.register('step', async (ctx) => {
  // Pre: filter tools for this step
  ctx.toolCatalog = ctx.toolCatalog.filter(
    t => !t.name.includes('dangerous')
  );

  const result = await ctx.next();

  // Post: log step results
  api.logger.info(`Step ${ctx.stepIndex}: ${result.toolCalls.length} tool calls`);
  return result;
});
// end of verbatim
}
