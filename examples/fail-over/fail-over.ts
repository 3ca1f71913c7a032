import { type ExtensionRegister, GoondanError } from '@goondan/types';

/** When the agent's model fails, uses the backup model for the rest of the turn. */
export const register: ExtensionRegister<{ backup: string }> = (api, { backup }) => {
  api.pipeline.register('model', async (ctx) => {
    if (ctx.metadata['fail-over.active'] === true) ctx.modelRef = backup;
    try {
      return await ctx.next();
    } catch (error) {
      // The backup failed as well, or the turn was cancelled.
      if (ctx.modelRef === backup || ctx.signal.aborted) throw error;

      // This layer does not call next() again. The runtime runs another step, which still has this metadata.
      ctx.metadata['fail-over.active'] = true;
      throw new GoondanError('E_MODEL_FAILED', `${ctx.modelRef} failed, ${backup} takes over.`, {
        cause: error,
        retryable: true,
        isFallback: true,
      });
    }
  });
};
