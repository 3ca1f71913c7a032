import type { ExtensionRegister } from '@goondan/types';

/** Logs how every turn ended. */
export const register: ExtensionRegister<{ level: 'debug' | 'info' }> = (api, { level }) => {
  api.pipeline.register('turn', async (ctx) => {
    const result = await ctx.next();
    api.logger[level](`${ctx.agentName} of ${ctx.instanceKey}: ${result.finishReason}`);
    return result;
  });
};
