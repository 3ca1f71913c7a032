import type { ExtensionRegister } from '@goondan/types';

export const register: ExtensionRegister<{ most: number }> = (api, { most }) => {
  api.pipeline.register(
    'toolCall',
    async (ctx) => {
      const calls = Number(ctx.metadata['tool-budget.calls'] ?? 0) + 1;
      ctx.metadata['tool-budget.calls'] = calls;
      if (calls <= most) return ctx.next();
      const message = `This turn has made its ${most} tool calls. Answer with what you have.`;
      return { toolCallId: ctx.toolCallId, toolName: ctx.toolName, status: 'error', error: { message } };
    },
    { mayShortCircuit: true },
  );
};
