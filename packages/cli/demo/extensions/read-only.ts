/** Hides every tool that does something from the model. A call to one that it invents is refused by the runtime. */
import type { ExtensionRegister } from '@goondan/types';

export const register: ExtensionRegister = (api) => {
  api.pipeline.register('step', (ctx) => {
    ctx.toolCatalog = ctx.toolCatalog.filter((tool) => tool.annotations?.effects === 'none');
    return ctx.next();
  });
};
