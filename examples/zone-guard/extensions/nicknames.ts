import type { ExtensionRegister } from '@goondan/types';

/** Translates our own names for zones. */
export const register: ExtensionRegister<{ names: Record<string, string> }> = (api, { names }) => {
  const zones = new Map(Object.entries(names));
  api.pipeline.register(
    'toolCall',
    async (ctx) => {
      const { zone: said } = ctx.args;
      const zone = typeof said === 'string' ? zones.get(said) : undefined;
      if (ctx.toolName === 'clock__now' && zone !== undefined) ctx.args = { ...ctx.args, zone };
      return ctx.next();
    },
    { name: 'translate', priority: -10 },
  );
};
