/** `Extension/guest-book` counts the turns of a conversation, tells the model, and lets it look the number up. */
import { createSystemMessage, type ExtensionRegister } from '@goondan/types';

export const register: ExtensionRegister<{ greetAfter: number }> = (api, { greetAfter }) => {
  api.pipeline.register('turn', async (ctx) => {
    // The state is `null` before the first visit. The new state is stored at the end of the turn.
    const visits = Number(await api.state.get()) + 1;
    await api.state.set(visits);
    if (visits <= greetAfter) return ctx.next();

    // This message is ephemeral: the model sees it in this turn, and the conversation does not keep it.
    const message = createSystemMessage(
      `The user is back, for visit number ${visits}. Welcome them.`,
      {},
      { lifetime: 'turn', id: 'guest-book.visits' },
    );
    ctx.emitMessageEvent({ type: 'append', message });
    return ctx.next();
  });

  const tool = { name: 'guest-book__read', description: 'How often the user has been here.' };
  api.tools.register(tool, async () => ({ visits: await api.state.get() }));
};
