/** Layers of each kind. One layer only calls `next()`, and the others make changes. */
import { createUserMessage, type ExtensionRegister } from '@goondan/types';

export const register: ExtensionRegister = ({ pipeline }) => {
  pipeline.register('turn', (ctx) => ctx.next(), { name: 'passes' });
  pipeline.register(
    'step',
    (ctx) => {
      const message = createUserMessage('EMITTED-CANARY', {}, { lifetime: 'step' });
      if (ctx.stepIndex === 1) ctx.emitMessageEvent({ type: 'append', message });
      return ctx.next();
    },
    { name: 'emits' },
  );
  pipeline.register('model', (ctx) => ctx.next(), { name: 'watches' });
  pipeline.register(
    'toolCall',
    (ctx) => {
      if (ctx.toolName === 'probe__look') ctx.args = { ...ctx.args, more: 'CHANGED-CANARY' };
      return ctx.next();
    },
    { name: 'changes' },
  );
};
