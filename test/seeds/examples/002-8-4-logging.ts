// Logs steps and tool calls, failed steps too.
import type { ExtensionApi } from '@goondan/types';

// verbatim from seed 002, 8.4
export function register(api: ExtensionApi): void {
  // Step 실행 시간 로깅
  api.pipeline.register('step', async (ctx) => {
    const start = Date.now();
    api.logger.info(`[Step ${ctx.stepIndex}] 시작`);

    try {
      const result = await ctx.next();
      api.logger.info(`[Step ${ctx.stepIndex}] 완료: ${Date.now() - start}ms`);
      return result;
    } catch (error) {
      api.logger.error(`[Step ${ctx.stepIndex}] 실패:`, error);
      throw error;
    }
  });

  // ToolCall 실행 로깅
  api.pipeline.register('toolCall', async (ctx) => {
    api.logger.debug(`[Tool] ${ctx.toolName} 호출:`, ctx.args);

    const start = Date.now();
    const result = await ctx.next();

    api.logger.debug(`[Tool] ${ctx.toolName} 완료: ${Date.now() - start}ms`);
    return result;
  });
}
// end of verbatim
