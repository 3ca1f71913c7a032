/**
 * `context-message`: tells the model in every turn who it is and what surrounds it: the agent, the model, the tools, the
 * other agents, the connections and the event, from `ctx.runtime`, and a text of the author.
 *
 * The message is ephemeral. So each turn has a new one, and the history contains none.
 */
import { createSystemMessage, type ExtensionRegister } from '@goondan/types';
import { type Section, writeContext } from './write-context.ts';

export interface ContextMessageConfig {
  /** The parts of `ctx.runtime` to write, in this order. */
  readonly sections?: readonly Section[];
  /** A text of the author, before the sections. */
  readonly text?: string;
}

export const register: ExtensionRegister<ContextMessageConfig> = (api, config, { name }) => {
  const { sections = ['agent', 'agents', 'inboundEvent'], text = '' } = config;
  api.pipeline.register(
    'turn',
    (ctx) => {
      const content = [text, writeContext(ctx.runtime, sections)].filter((part) => part !== '').join('\n\n');
      const options = { id: `${ctx.turnId}.${name}`, lifetime: 'turn' } as const;
      if (content !== '') ctx.emitMessageEvent({ type: 'append', message: createSystemMessage(content, {}, options) });
      return ctx.next();
    },
    { name: 'tell' },
  );
};
