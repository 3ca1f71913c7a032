// An old extension that logs how long a call of the LLM takes.
import type { OldExtensionApi } from '@goondan/v010';

/** The lines that it printed. */
export const printed: string[] = [];
const console = { log: (line: string) => void printed.push(line) };

export function register(api: OldExtensionApi) {
// verbatim from seed 003, 2.2
api.pipelines.wrap('step.llmCall', async (ctx, next) => {
  const startTime = Date.now();
  console.log('[LLM] 호출 시작');

  // 핵심 LLM 호출
  const result = await next(ctx);

  const elapsed = Date.now() - startTime;
  console.log(`[LLM] 호출 완료: ${elapsed}ms`);

  return result;
});
// end of verbatim
}
