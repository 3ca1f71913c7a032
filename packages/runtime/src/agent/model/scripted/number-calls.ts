/**
 * Numbers the tool calls of a conversation: `call_1`, `call_2`, …. The last number is read from the newest call, so the
 * ids continue after a restart. Only messages after that call are scanned.
 */
import type { ModelMessage } from '@goondan/types';

const callId = /^call_(\d{1,9})$/;

export function nameCall(number: number): string {
  return `call_${number}`;
}

/** Returns the number of the newest scripted call, or 0 when there is none. */
export function findLastCallNumber(messages: readonly ModelMessage[]): number {
  for (let index = messages.length - 1; index >= 0; index -= 1) {
    const number = readCallNumber(messages[index]);
    if (number > 0) return number;
  }
  return 0;
}

function readCallNumber(message: ModelMessage | undefined): number {
  if (message?.role !== 'assistant' || typeof message.content === 'string') return 0;
  // Calls of another model, made before a fail-over, have ids of another form.
  const calls = message.content.filter((part) => part.type === 'tool-call');
  return Math.max(0, ...calls.map(({ toolCallId }) => Number(callId.exec(toolCallId)?.[1] ?? 0)));
}
