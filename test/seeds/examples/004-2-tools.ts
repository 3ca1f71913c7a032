// Offers a tool that shows its state.
import type { ExtensionApi } from '@goondan/types';

// verbatim from seed 004, 2
export function register(api: ExtensionApi): void {
  api.tools.register(
    {
      name: 'my-ext__status',
      description: 'Get extension status',
      parameters: { type: 'object', properties: {} },
    },
    async (ctx, input) => {
      const state = await api.state.get();
      return { status: 'ok', state };
    },
  );
}
// end of verbatim
