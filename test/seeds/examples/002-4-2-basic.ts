// A layer, a tool and a listener.
// verbatim from seed 002, 4.2
// extensions/my-extension/index.ts
import type { ExtensionApi } from '@goondan/core';

export function register(api: ExtensionApi): void {
  // 1. 미들웨어 등록
  api.pipeline.register('step', async (ctx) => {
    const start = Date.now();
    const result = await ctx.next();
    api.logger.info(`Step ${ctx.stepIndex} completed in ${Date.now() - start}ms`);
    return result;
  });

  // 2. 동적 도구 등록
  api.tools.register(
    {
      name: 'my-ext__status',
      description: 'Get extension status',
      parameters: { type: 'object', properties: {} },
    },
    async (ctx, input) => {
      const state = await api.state.get();
      return { status: 'ok', state };
    }
  );

  // 3. 이벤트 구독
  api.events.on('turn.completed', () => {
    api.logger.info('Turn completed');
  });
}
// end of verbatim
