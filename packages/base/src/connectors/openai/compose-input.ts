/** Composes the text for the agent: the user's message and, in a new conversation, the earlier transcript. */
import type { ChatMessage } from './read-chat.ts';

const CONTEXT_LIMIT = 20_000;

const names = { system: 'Instructions', user: 'User', assistant: 'Assistant' } as const;

/**
 * Composes the text. `earlier` holds the messages that the conversation does not have yet. If they are too long, only
 * the newest part is used.
 */
export function composeInput(
  earlier: readonly ChatMessage[],
  input: string,
  {
    systemMessages = 'ignore',
    contextLimit = CONTEXT_LIMIT,
  }: { readonly systemMessages?: 'ignore' | 'context'; readonly contextLimit?: number },
): string {
  const told = earlier.filter(
    ({ role, text }) => text.trim() !== '' && (role !== 'system' || systemMessages === 'context'),
  );
  if (told.length === 0) return input;
  const text = told.map(({ role, text: words }) => `${names[role]}: ${words}`).join('\n\n');
  const isCut = text.length > contextLimit;
  const kept = isCut ? `…${text.slice(-contextLimit).toWellFormed()}` : text;
  return `Earlier in this conversation:\n\n${kept}\n\nThe new message:\n\n${input}`;
}
