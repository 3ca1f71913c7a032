/** Reads messages for rules and templates. All functions search from the end, because histories are long. */
import {
  describeFile,
  type JsonObject,
  type JsonValue,
  type ModelMessage,
  type ToolResultOutput,
  type ToolResultPart,
} from '@goondan/types';
import { isPlainObject } from '../../../json/copy-json.ts';
import { unlessThrows } from '../../../ports/unless-throws.ts';

/** Finds the message that rules match: the newest message that is not a system message. */
export function findNewestMessage(messages: readonly ModelMessage[]): ModelMessage | undefined {
  return messages.findLast((message) => message.role !== 'system');
}

/** Returns the value of `{{input}}`: the text of the last user message, even if other messages follow it. */
export function readNewestUserText(messages: readonly ModelMessage[]): string {
  const message = messages.findLast(({ role }) => role === 'user');
  return message === undefined ? '' : readText(message);
}

/** Returns the value of `{{files}}`: the images and files of the last user message, as people see them. */
export function readNewestUserFiles(messages: readonly ModelMessage[]): string {
  const content = messages.findLast(({ role }) => role === 'user')?.content ?? [];
  if (typeof content === 'string') return '';
  return content
    .flatMap((part) => (part.type === 'image' || part.type === 'file' ? [describeFile(part)] : []))
    .join(' ');
}

/** Returns the text parts, one per line. */
export function readText(message: ModelMessage): string {
  if (typeof message.content === 'string') return message.content;
  const texts: string[] = [];
  for (const part of message.content) {
    if (part.type === 'text') texts.push(part.text);
  }
  return texts.join('\n');
}

/** Returns the last tool result in a message. */
export function readToolResult(message: ModelMessage | undefined): ToolResultPart | undefined {
  return message?.role === 'tool' ? message.content.at(-1) : undefined;
}

/**
 * Returns the value of `{{result}}`: the tool's output, or `{ error }` when the call failed, so that scripts can
 * distinguish the two.
 */
export function readOutput(output: ToolResultOutput): JsonValue {
  switch (output.type) {
    case 'text':
    case 'json':
      return output.value;
    case 'content': {
      // An object after a note, such as the one about arguments that a person changed, is the result.
      const last = output.value.length > 1 ? output.value.at(-1) : undefined;
      const value = last?.type === 'text' ? unlessThrows<unknown>(() => JSON.parse(last.text)) : undefined;
      // Safe: the object was parsed.
      if (isPlainObject(value)) return value as JsonObject;
      return output.value.map((part) => (part.type === 'text' ? part.text : describeFile(part))).join('\n');
    }
    case 'error-json':
      return { error: output.value };
    case 'error-text':
      return { error: { message: output.value } };
    case 'execution-denied':
      return { error: { message: output.reason ?? '' } };
  }
}
