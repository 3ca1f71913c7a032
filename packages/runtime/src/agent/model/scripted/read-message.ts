/** What rules and templates see of a message. Everything here looks from the end: histories are long. */
import type { JsonValue, ModelMessage, ToolResultOutput, ToolResultPart } from '@goondan/types';

/** The message rules look at: the newest that is not a system message. */
export function findNewestMessage(messages: readonly ModelMessage[]): ModelMessage | undefined {
  return messages.findLast((message) => message.role !== 'system');
}

/** `{{input}}`: what the user said last, whoever spoke since. */
export function readNewestUserText(messages: readonly ModelMessage[]): string {
  const message = messages.findLast(({ role }) => role === 'user');
  return message === undefined ? '' : readText(message);
}

/** The text parts, one below the other. */
export function readText(message: ModelMessage): string {
  if (typeof message.content === 'string') return message.content;
  const texts: string[] = [];
  for (const part of message.content) {
    if (part.type === 'text') texts.push(part.text);
  }
  return texts.join('\n');
}

/** The tool result a message is; of several in one message, the last. */
export function readToolResult(message: ModelMessage | undefined): ToolResultPart | undefined {
  return message?.role === 'tool' ? message.content.at(-1) : undefined;
}

/** `{{result}}`: the tool's output, or `{ error }` when the call failed, so that scripts can tell the two apart. */
export function readOutput(output: ToolResultOutput): JsonValue {
  switch (output.type) {
    case 'text':
    case 'json':
      return output.value;
    case 'error-json':
      return { error: output.value };
    case 'error-text':
      return { error: { message: output.value } };
    case 'execution-denied':
      return { error: { message: output.reason ?? '' } };
  }
}
