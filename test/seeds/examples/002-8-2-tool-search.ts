// Lets the model choose the tools of the next step.
import type { ExtensionApi } from '@goondan/types';

const searchTools = (query: string) => [{ name: `${query}__get`, description: `What ${query} is.` }];

// verbatim from seed 002, 8.2
export function register(api: ExtensionApi): void {
  // toolSearch 도구 등록
  api.tools.register(
    {
      name: 'tool-search__search',
      description: 'Search available tools by query',
      parameters: {
        type: 'object',
        properties: { query: { type: 'string' } },
        required: ['query'],
      },
    },
    async (ctx, input) => {
      const results = searchTools(String(input.query));
      // 선택된 도구를 상태에 저장 -> 다음 Step에서 반영
      await api.state.set({ selectedTools: results.map(r => r.name) });
      return { results };
    }
  );

  // step 미들웨어에서 선택된 도구 목록 반영
  api.pipeline.register('step', async (ctx) => {
    const state = await api.state.get();
    const selected = (state as Record<string, unknown>)?.selectedTools;

    if (Array.isArray(selected)) {
      ctx.toolCatalog = ctx.toolCatalog.filter(
        t => selected.includes(t.name)
      );
    }

    return ctx.next();
  });
}
// end of verbatim
