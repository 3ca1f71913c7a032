/** Converts message events between v0.10 and ours, and finds the events that a function appended. */
import { createUserMessage, type Message, type MessageEvent } from '@goondan/types';
import { compatError, resultError } from './compat-error.ts';
import { problemWithMessage, toLlmMessages, toModelMessage } from './llm-messages.ts';
import type { LlmMessage, OldMessageEvent } from './old-types.ts';

export function toOldMessage({ id, data }: Message): LlmMessage[] {
  return toLlmMessages(id, data);
}

export function toOldEvents(events: readonly MessageEvent[]): OldMessageEvent[] {
  return events.flatMap((event, seq): OldMessageEvent[] => {
    switch (event.type) {
      case 'append':
        return toOldMessage(event.message).map((message) => {
          const type = message.role === 'system' ? 'system_message' : 'llm_message';
          return { type, seq, message };
        });
      case 'replace':
        return toOldMessage(event.message).map((message) => ({
          type: 'replace',
          seq,
          targetId: event.targetId,
          message,
        }));
      case 'remove':
        return [{ type: 'remove', seq, targetId: event.targetId }];
      case 'truncate':
        return [{ type: 'truncate', seq }];
    }
  });
}

const SHAPE =
  "A message event is `{ type: 'llm_message', message: { id, role, content } }`, or a `system_message`, `replace`, `remove` or `truncate`.";

/** Converts an event of v0.10. Its `seq` does not count: events are emitted in the order of the list. */
export function toNewEvent(event: unknown, extension: string, point: string): MessageEvent {
  const refuse = (problem: string) => resultError(extension, point, `a message event is wrong: ${problem}`, SHAPE);
  if (typeof event !== 'object' || event === null) throw refuse('it is not an object');
  const { type, targetId, message } = event as Record<string, unknown>;
  const isTargeted = type === 'replace' || type === 'remove';
  if (isTargeted && typeof targetId !== 'string') throw refuse(`${type} has no targetId`);
  if (type === 'truncate') return { type };
  if (type === 'remove') return { type, targetId: targetId as string };
  if (type !== 'system_message' && type !== 'llm_message' && type !== 'replace') {
    throw refuse(`its type is ${JSON.stringify(type)}, not system_message, llm_message, replace, remove or truncate`);
  }
  const problem = problemWithMessage(message);
  if (problem !== undefined) throw refuse(problem);
  const created = toMessage(message as LlmMessage, extension);
  return type === 'replace'
    ? { type, targetId: targetId as string, message: created }
    : { type: 'append', message: created };
}

export function toMessage(message: LlmMessage, extension: string): Message {
  const { id } = message;
  const source = { type: 'extension', extensionName: extension } as const;
  const blank = createUserMessage('', {}, { source, ...(typeof id === 'string' && id !== '' ? { id } : {}) });
  return { ...blank, data: toModelMessage(message) };
}

/**
 * Returns the events that a function appended to a list that it got. **Errors** — `E_EXT_COMPAT` if the function removed
 * or changed an earlier event.
 */
export function findAppended(given: readonly unknown[], list: unknown, extension: string, point: string): unknown[] {
  if (!Array.isArray(list)) throw resultError(extension, point, 'the message events are not an array', SHAPE);
  if (given.some((event, index) => list[index] !== event)) {
    throw compatError(
      extension,
      `changed earlier message events at ${point}`,
      'Append an event instead: `replace` or `remove` changes an earlier message.',
    );
  }
  return (list as unknown[]).slice(given.length);
}
