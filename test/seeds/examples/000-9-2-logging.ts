// Logs steps and tool calls with their times.
import type { ExtensionApi } from '@goondan/types';

export function register(api: ExtensionApi) {
// verbatim from seed 000, 9.2
// Step 실행 시간 측정
api.pipeline.register('step', async (ctx) => {
  const start = Date.now();
  api.logger.info(`[Step ${ctx.stepIndex}] 시작, 도구 ${ctx.toolCatalog.length}개`);

  const result = await ctx.next();

  const elapsed = Date.now() - start;
  api.logger.info(`[Step ${ctx.stepIndex}] 완료: ${elapsed}ms`);

  return result;
});

// ToolCall 실행 로깅
api.pipeline.register('toolCall', async (ctx) => {
  api.logger.debug(`[ToolCall] ${ctx.toolName} 호출`, ctx.args);

  const start = Date.now();
  const result = await ctx.next();

  api.logger.debug(`[ToolCall] ${ctx.toolName} 완료: ${Date.now() - start}ms`, {
    status: result.status,
  });

  return result;
});
// end of verbatim
}
