/** Remembers all inputs of its agent in its own state, and repeats them in every answer. */
import { createAssistantMessage, type ExtensionRegister } from '@goondan/types';

export const register: ExtensionRegister = ({ pipeline, state }) => {
  pipeline.register('turn', async (ctx) => {
    // The cast is safe: only the code below sets the state.
    const heard = [...(((await state.get()) as string[] | null) ?? []), ctx.inputEvent.input ?? ''];
    await state.set(heard);
    const result = await ctx.next();
    return { ...result, responseMessage: createAssistantMessage(JSON.stringify(heard)) };
  });
};
