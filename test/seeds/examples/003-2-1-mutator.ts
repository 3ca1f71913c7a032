// An old extension that adds a tool to the catalog.
import type { OldExtensionApi } from '@goondan/v010';

export function register(api: OldExtensionApi) {
// verbatim from seed 003, 2.1
api.pipelines.mutate('step.tools', async (ctx) => {
  // Tool Catalog에 동적 도구 추가
  const updatedTools = [...ctx.toolCatalog, {
    name: 'dynamic.tool',
    description: '동적으로 추가된 도구',
    parameters: { type: 'object', properties: {} },
  }];
  return { ...ctx, toolCatalog: updatedTools };
});
// end of verbatim
}
