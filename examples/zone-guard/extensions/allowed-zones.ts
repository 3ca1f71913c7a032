import type { ExtensionRegister } from '@goondan/types';

/** Allows these zones for the clock, and no others. */
export const register: ExtensionRegister<{ zones: string[] }> = (api, { zones }) => {
  api.pipeline.register(
    'toolCall',
    async (ctx) => {
      const { zone } = ctx.args;
      if (ctx.toolName !== 'clock__now' || zones.some((allowed) => allowed === zone)) return ctx.next();

      // A refusal is a result that the model can read, not an exception.
      const message = `${JSON.stringify(zone)} is not one of ${zones.join(', ')}.`;
      return { toolCallId: ctx.toolCallId, toolName: ctx.toolName, status: 'error', error: { message } };
    },
    { name: 'check-zone', mayShortCircuit: true },
  );
};
