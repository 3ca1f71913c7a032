/**
 * `agents-md`: gives the model the `AGENTS.md` of the working folder.
 *
 * The text is one message of the conversation. It is written when it is new or has changed, and not again in every turn, so
 * the beginning of the prompt stays the same and the provider can cache it. The message is pinned, so neither a summary nor
 * a window removes it. A message that another layer removed is written again in the next turn.
 */
import { createSystemMessage, type ExtensionRegister, textOf, type TurnMiddlewareContext } from '@goondan/types';
import { InstructionFinder, type Instructions } from './find-instructions.ts';

export interface AgentsMdConfig {
  readonly names?: readonly string[];
  readonly parents?: boolean;
  readonly maxBytes?: number;
}

export const register: ExtensionRegister<AgentsMdConfig> = (api, config, { name }) => {
  const { names = ['AGENTS.md'], parents = true, maxBytes = 32_768 } = config;
  const finder = new InstructionFinder({ names, parents, maxBytes });
  let told: readonly string[] = [];

  api.pipeline.register(
    'turn',
    (ctx) => {
      const { files, problems } = finder.find(ctx.workdir);
      for (const problem of problems) if (!told.includes(problem)) api.logger.warn(problem);
      told = problems;
      show(ctx, files);
      return ctx.next();
    },
    { name: 'read' },
  );

  /** Writes the message, if the conversation does not have it as it should be. */
  function show(ctx: TurnMiddlewareContext, files: readonly Instructions[]): void {
    const current = ctx.conversationState.nextMessages.find(({ id }) => id === name);
    if (files.length === 0) {
      if (current !== undefined) ctx.emitMessageEvent({ type: 'remove', targetId: name });
      return;
    }
    const text = write(files);
    if (current !== undefined && textOf(current) === text) return;
    const message = createSystemMessage(text, { pinned: true }, { id: name });
    ctx.emitMessageEvent(
      current === undefined ? { type: 'append', message } : { type: 'replace', targetId: name, message },
    );
  }
};

function write(files: readonly Instructions[]): string {
  const about =
    files.length === 1
      ? 'Follow these instructions of the working folder. The words of the user have precedence.'
      : 'Follow these instructions of the working folder. A later file has precedence over an earlier one, and the words of the user over all of them.';
  return [about, ...files.map(({ path, text }) => `## ${path}\n\n${text}`)].join('\n\n');
}
