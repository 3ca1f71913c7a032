/** Tools that do what they are told, good or bad. */
import type { JsonValue, ToolContext, ToolHandler } from '@goondan/types';
import { misdeeds } from './misdeeds.ts';

const act: ToolHandler = async (ctx, { deed }) => {
  const [name = '', argument = ''] = (typeof deed === 'string' ? deed : '').split(':');
  const misdeed = misdeeds[name];
  if (misdeed !== undefined) await misdeed();
  else return deeds[name]?.(ctx, argument);
};

export const handlers: Record<string, ToolHandler> = { once: act, again: act };

const deeds: Record<string, (ctx: ToolContext, argument: string) => JsonValue | void | Promise<JsonValue | void>> = {};
