/**
 * Adds a message before the turn and one after it, and counts the steps. The messages and the count must survive a
 * kill.
 */
import { createSystemMessage, type ExtensionApi } from '@goondan/types';

export function register(api: ExtensionApi): void {
  api.pipeline.register('turn', async (ctx) => {
    const before = createSystemMessage('Count your steps.', {}, { id: `${ctx.turnId}.before` });
    ctx.emitMessageEvent({ type: 'append', message: before });
    const result = await ctx.next();
    const after = createSystemMessage('Counted.', {}, { id: `${ctx.turnId}.after` });
    ctx.emitMessageEvent({ type: 'append', message: after });
    return result;
  });
  api.pipeline.register('step', async (ctx) => {
    const result = await ctx.next();
    await api.state.set(Number((await api.state.get()) ?? 0) + 1);
    return result;
  });
}
