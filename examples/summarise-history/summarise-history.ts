import { createSystemMessage, type ExtensionRegister, type Message } from '@goondan/types';

/**
 * Before each turn, checks the length of the conversation. If it is too long, the model summarises everything except
 * the newest questions.
 */
export const register: ExtensionRegister<{ mostMessages: number; keptQuestions: number }> = (api, config) => {
  api.pipeline.register('turn', async (ctx) => {
    const { nextMessages } = ctx.conversationState;
    const old = nextMessages.slice(0, startOfKept(nextMessages, config.keptQuestions));
    const [first, ...others] = old;
    if (first === undefined || nextMessages.length <= config.mostMessages) return ctx.next();

    // The layer itself calls the model. This call passes the model chain like any other, and is not shown to the user.
    const reply = await ctx.model.generate({
      messages: [
        ...old.map(({ data }) => data),
        { role: 'user', content: 'Sum up this conversation in one sentence, for yourself.' },
      ],
    });
    const summary = reply.content.map((part) => (part.type === 'text' ? part.text : '')).join('');

    // The summary replaces the oldest message. The other old messages are removed.
    const message = createSystemMessage(`Earlier: ${summary}`, {}, { id: `summary-${ctx.turnId}` });
    ctx.emitMessageEvent({ type: 'replace', targetId: first.id, message });
    for (const { id } of others) ctx.emitMessageEvent({ type: 'remove', targetId: id });
    return ctx.next();
  });
};

/** Finds where the newest `count` questions begin. Cutting there separates no tool call from its result. */
function startOfKept(messages: readonly Message[], count: number): number {
  const questions = messages.flatMap(({ data }, index) => (data.role === 'user' ? [index] : []));
  return questions.at(-count) ?? 0;
}
