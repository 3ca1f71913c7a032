// Registers one layer of each kind.
import type { ExtensionApi } from '@goondan/types';

// verbatim from seed 000, 5.2
// extension entry point
export function register(api: ExtensionApi): void {
  // Turn 미들웨어
  api.pipeline.register('turn', async (ctx) => {
    // next() 전 = turn.pre: 메시지 히스토리 조작
    const { nextMessages } = ctx.conversationState;
    console.log(`Turn 시작: ${nextMessages.length} messages`);

    const result = await ctx.next();

    // next() 후 = turn.post: 결과 후처리
    console.log(`Turn 종료: ${result.status}`);
    return result;
  });

  // Step 미들웨어
  api.pipeline.register('step', async (ctx) => {
    // next() 전 = step.pre: 도구 목록 조작
    ctx.toolCatalog = ctx.toolCatalog.filter(t => !t.name.includes('disabled'));

    const start = Date.now();
    const result = await ctx.next();
    console.log(`Step ${ctx.stepIndex} took ${Date.now() - start}ms`);

    // next() 후 = step.post: 결과 검사/변환
    return result;
  });

  // ToolCall 미들웨어
  api.pipeline.register('toolCall', async (ctx) => {
    console.log(`Calling ${ctx.toolName} with`, ctx.args);
    const result = await ctx.next();
    console.log(`${ctx.toolName} returned`, result);
    return result;
  });
}
// end of verbatim
