// Counts steps in its state.
import type { ExtensionApi } from '@goondan/types';

// verbatim from seed 004, 3
export function register(api: ExtensionApi): void {
  api.pipeline.register('step', async (ctx) => {
    // Read state
    const state = (await api.state.get()) ?? { processedSteps: 0 };
    const count = (state as Record<string, unknown>).processedSteps as number;

    // Update state
    await api.state.set({
      processedSteps: count + 1,
      lastStepAt: Date.now(),
    });

    return ctx.next();
  });
}
// end of verbatim
