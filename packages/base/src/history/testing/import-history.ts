import type { Message } from '@goondan/types';
import { extension } from '@goondan/runtime/testing';

/** Creates an extension that inserts a history into the conversation in a turn whose input is `import`. */
export function importHistory(history: readonly Message[]) {
  return extension('importer', ({ pipeline }) => {
    pipeline.register(
      'turn',
      (ctx) => {
        const isAsked = ctx.inputEvent.input === 'import';
        for (const message of isAsked ? history : []) ctx.emitMessageEvent({ type: 'append', message });
        return ctx.next();
      },
      { priority: 10 },
    );
  });
}
