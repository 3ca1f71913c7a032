// Logs how long steps take.
import type { ExtensionApi } from '@goondan/types';

// verbatim from seed 004, 1
export function register(api: ExtensionApi): void {
  api.pipeline.register('step', async (ctx) => {
    const start = Date.now();
    const result = await ctx.next();
    api.logger.info(`Step ${ctx.stepIndex}: ${Date.now() - start}ms`);
    return result;
  });
}
// end of verbatim
