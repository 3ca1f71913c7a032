/** `message-window`: shows the model only the newest part of a conversation. */
import type { ExtensionRegister, StepMiddlewareContext, TurnMiddlewareContext } from '@goondan/types';
import { chooseRemoved } from '../../history/choose-removed.ts';
import { type HistoryLimits, maxMessagesOf } from '../../history/history-limits.ts';
import { protectNewest } from '../../history/protect-newest.ts';

export interface WindowConfig extends HistoryLimits {
  /** The share of the limits to which the messages are reduced. */
  readonly trimTo?: number;
}

/** The maximum number of messages if the config has no limit. */
const DEFAULT_MESSAGES = 80;

export const register: ExtensionRegister<WindowConfig> = (api, config) => {
  const { maxTokens = Infinity, trimTo = 0.75 } = config;
  const limits = { maxMessages: maxMessagesOf(config, DEFAULT_MESSAGES), maxTokens };
  const targets = {
    maxMessages: Math.floor(limits.maxMessages * trimTo),
    maxTokens: Math.floor(maxTokens * trimTo),
  };
  let hasWarned = false;
  // The window slides at the start of the turn and not in its first step, because a retried step loses its changes. It
  // slides before every further step, because a turn can be long.
  api.pipeline.register('turn', (ctx) => (slide(ctx), ctx.next()), { name: 'window' });
  api.pipeline.register('step', (ctx) => (ctx.stepIndex > 0 && slide(ctx), ctx.next()), { name: 'window' });

  function slide(ctx: TurnMiddlewareContext | StepMiddlewareContext): void {
    const { conversationState } = ctx;
    const { removed, isEnough } = chooseRemoved({
      messages: conversationState.nextMessages,
      limits,
      targets,
      isProtected: protectNewest(conversationState),
    });
    for (const { id } of removed) ctx.emitMessageEvent({ type: 'remove', targetId: id });
    if (isEnough || hasWarned) return;
    hasWarned = true;
    api.logger.warn('The pinned and newest messages alone exceed the window; nothing else is left to remove.');
  }
};
