// Offers only the tools its state names.
import type { ExtensionApi } from '@goondan/types';

export function register(api: ExtensionApi) {
// verbatim from seed 000, 9.3
api.pipeline.register('step', async (ctx) => {
  // ToolSearch Extension의 상태에서 선택된 도구 목록 가져오기
  const state = await api.state.get();
  const selectedTools = state?.selectedTools;

  if (selectedTools) {
    // 선택된 도구만 노출
    ctx.toolCatalog = ctx.toolCatalog.filter(
      t => selectedTools.includes(t.name)
    );
  }

  return ctx.next();
});
// end of verbatim
}
