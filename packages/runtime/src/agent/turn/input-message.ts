/** The message of an event's input, and its sender. */
import { type AgentEvent, type ContentPart, createUserMessage, type Message } from '@goondan/types';
import { turnIdOf } from '../../ports/ids.ts';
import type { InputOrigin } from '../conversation/conversation-store.ts';

/**
 * Makes the message; `undefined` for an event without an input. Its id follows from that of the event, whichever turn
 * appends it.
 */
export function inputMessage(event: AgentEvent): Message | undefined {
  const content = contentOf(event);
  const { id, createdAt } = event;
  return content === undefined ? undefined : createUserMessage(content, {}, { id: `${turnIdOf(id)}.input`, createdAt });
}

/** Returns the content of the user message: the text alone, or the text and the parts. */
function contentOf({ input, content = [] }: AgentEvent): string | ContentPart[] | undefined {
  if (content.length === 0) return input;
  return [...(input === undefined || input === '' ? [] : [{ type: 'text' as const, text: input }]), ...content];
}

/**
 * Returns the origin of the input. For a request by an agent, it includes the instance key of the last caller in the
 * call chain. An event that was sent without a request has no call chain.
 */
export function originOf({ source: { kind, name }, callChain }: AgentEvent): InputOrigin {
  const caller = kind === 'agent' ? callChain?.at(-1) : undefined;
  return { kind, name, ...(caller === undefined ? {} : { instanceKey: caller.instanceKey }) };
}
