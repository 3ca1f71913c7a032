/** Hides tools with side effects from the model. The runtime refuses a call to a hidden tool. */
import type { ExtensionRegister } from '@goondan/types';

export const register: ExtensionRegister = (api) => {
  api.pipeline.register('step', (ctx) => {
    ctx.toolCatalog = ctx.toolCatalog.filter((tool) => tool.annotations?.effects === 'none');
    return ctx.next();
  });
};
