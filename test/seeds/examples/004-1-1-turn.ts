// Removes the oldest messages of a long conversation.
import type { ExtensionApi } from '@goondan/types';

export function register(api: ExtensionApi) {
// verbatim from seed 004, 1.1
api.pipeline.register('turn', async (ctx) => {
  // Pre: inspect or manipulate messages before the Turn executes
  const { nextMessages } = ctx.conversationState;

  if (nextMessages.length > 50) {
    // Remove old messages via event sourcing
    for (const msg of nextMessages.slice(0, 10)) {
      ctx.emitMessageEvent({ type: 'remove', targetId: msg.id });
    }
  }

  // Execute the Turn (Step loop happens inside)
  const result = await ctx.next();

  // Post: inspect or log the result
  api.logger.info(`Turn finished: ${result.finishReason}`);
  return result;
});
// end of verbatim
}
