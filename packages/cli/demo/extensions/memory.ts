/** Counts the visits in a conversation, and tells the model the number during each turn. */
import { createSystemMessage, type ExtensionRegister } from '@goondan/types';

export const register: ExtensionRegister = (api) => {
  api.pipeline.register('turn', async (ctx) => {
    // The state is `null` before the first visit. The new state is stored at the end of the turn.
    const visits = Number(await api.state.get()) + 1;
    await api.state.set(visits);

    // This message is ephemeral: the model sees it in this turn, and the conversation does not keep it.
    const message = createSystemMessage(
      `This is the user's visit number ${visits}.`,
      {},
      { lifetime: 'turn', id: 'memory.visits' },
    );
    ctx.emitMessageEvent({ type: 'append', message });
    return ctx.next();
  });
};
