// Replaces eligible messages by a summary.
import { createSystemMessage, type ExtensionApi } from '@goondan/types';

const summarize = async (messages: readonly unknown[]) => `${messages.length} messages about tea`;

// verbatim from seed 002, 8.3
export function register(api: ExtensionApi): void {
  api.pipeline.register('turn', async (ctx) => {
    const { nextMessages } = ctx.conversationState;

    const compactable = nextMessages.filter(
      m => m.metadata['compaction.eligible'] === true
        && m.metadata['pinned'] !== true
    );

    if (compactable.length > 20) {
      const summary = await summarize(compactable);

      for (const m of compactable) {
        ctx.emitMessageEvent({ type: 'remove', targetId: m.id });
      }
      ctx.emitMessageEvent({
        type: 'append',
        message: createSystemMessage(summary, { 'compaction.summary': true }),
      });
    }

    const result = await ctx.next();
    return result;
  });
}
// end of verbatim
