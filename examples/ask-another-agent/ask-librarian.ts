import { createSystemMessage, type ExtensionRegister } from '@goondan/types';

/**
 * Before each turn, asks another agent what it knows about the question, and shows the answer to this agent's model.
 */
export const register: ExtensionRegister<{ target: string }> = (api, { target }) => {
  api.pipeline.register('turn', async (ctx) => {
    const { input } = ctx.inputEvent;
    if (input === undefined) return ctx.next();

    // This request is an effect: it is recorded when it completes, and is not repeated when the turn is resumed after a
    // crash.
    const { response } = await ctx.agents.request({ target, input, timeoutMs: 5_000 });
    const message = createSystemMessage(
      `What ${target} knows: ${response}`,
      {},
      { lifetime: 'turn', id: `ask-librarian.${ctx.turnId}` },
    );
    ctx.emitMessageEvent({ type: 'append', message });
    return ctx.next();
  });
};
