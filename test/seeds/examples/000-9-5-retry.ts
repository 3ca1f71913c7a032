// Lets the runtime try a failed step again.
import type { ExtensionApi } from '@goondan/types';

/** How long it wanted to sleep; nobody waits for it here. */
export const delays: number[] = [];

const isRetryableError = (error: unknown) => error instanceof Error && 'retryable' in error && error.retryable === true;
const sleep = async (ms: number) => void delays.push(ms);

export function register(api: ExtensionApi) {
// verbatim from seed 000, 9.5
api.pipeline.register('step', async (ctx) => {
  try {
    return await ctx.next();
  } catch (error) {
    // LLM 호출 실패 시 재시도 로직
    if (isRetryableError(error)) {
      const retryCount = (ctx.metadata['retryCount'] ?? 0) as number;
      if (retryCount < 3) {
        ctx.metadata['retryCount'] = retryCount + 1;
        const delay = Math.min(1000 * Math.pow(2, retryCount), 10000);
        await sleep(delay);
        api.logger.warn(`Step 재시도 (${retryCount + 1}/3): ${error.message}`);
        // 동일 Step에서 ctx.next()를 재호출하지 않고, Runtime이 다음 Step에서 재시도를 결정
      }
    }
    throw error;
  }
});
// end of verbatim
}
