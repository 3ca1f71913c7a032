// An extension for v0.10 that exports the adapted function. Its resource needs no `compat`.
import { v010 } from '@goondan/v010';

export const register = v010((api) => {
  api.pipelines.mutate('step.llmError', (ctx) => ({ ...ctx, shouldRetry: ctx.retryCount < 2, retryDelayMs: 50 }));

  api.pipelines.wrap('step.llmCall', async (ctx, next) => {
    const result = await next(ctx);
    ctx.logger.info(`step ${ctx.step.index}: ${result.toolCalls.length} tool calls`);
    return result;
  });
});
