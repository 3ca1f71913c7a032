// Counts steps in its state.
import type { ExtensionApi } from '@goondan/types';

// verbatim from seed 002, 5.4
export function register(api: ExtensionApi): void {
  api.pipeline.register('step', async (ctx) => {
    // 상태 조회
    const state = (await api.state.get()) ?? { processedSteps: 0 };
    const count = (state as Record<string, unknown>).processedSteps as number;

    // 상태 업데이트
    await api.state.set({
      processedSteps: count + 1,
      lastStepAt: Date.now(),
    });

    return ctx.next();
  });
}
// end of verbatim
