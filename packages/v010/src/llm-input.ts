/** `ctx.llmInput`: the messages of one model call. Messages that nobody changed reach the model as they were. */
import type { ModelMessage } from '@goondan/types';
import { resultError } from './compat-error.ts';
import { problemWithMessage, toLlmMessages, toModelMessage } from './llm-messages.ts';
import type { LlmMessage } from './old-types.ts';

const SHAPE =
  'A message is `{ id, role, content }`; one with the role `tool` has `toolCallId`, `toolName` and `output`.';

export class LlmInput {
  /** The message of the model call from which each converted message was made. */
  readonly #origins = new Map<LlmMessage, ModelMessage>();
  readonly list: LlmMessage[];

  /** `idOf` returns the id of a message of the conversation. */
  constructor(
    private readonly messages: readonly ModelMessage[],
    private readonly idOf: (message: ModelMessage) => string | undefined,
  ) {
    this.list = messages.flatMap((message, index) => {
      const converted = this.#convert(message, index);
      for (const one of converted) this.#origins.set(one, message);
      return converted;
    });
  }

  /** Returns the messages for the model, or `undefined` if the list was not changed. */
  read(list: unknown, extension: string, point: string): ModelMessage[] | undefined {
    if (!Array.isArray(list)) throw resultError(extension, point, 'llmInput is not an array of messages', SHAPE);
    const read = this.#read(list as LlmMessage[], extension, point);
    const isSame = read.length === this.messages.length && read.every((each, index) => each === this.messages[index]);
    return isSame ? undefined : read;
  }

  #read(list: readonly LlmMessage[], extension: string, point: string): ModelMessage[] {
    const read: ModelMessage[] = [];
    for (let index = 0; index < list.length;) {
      const origin = this.#unchangedAt(list, index);
      if (origin !== undefined) {
        read.push(origin.message);
        index += origin.length;
        continue;
      }
      const message = list[index];
      const problem = problemWithMessage(message);
      if (problem !== undefined || message === undefined)
        throw resultError(extension, point, `llmInput: ${problem}`, SHAPE);
      read.push(toModelMessage(message));
      index += 1;
    }
    return read;
  }

  /** Finds the message of which the list has all parts at this index, unchanged. */
  #unchangedAt(list: readonly LlmMessage[], index: number): { message: ModelMessage; length: number } | undefined {
    const first = list[index];
    const message = first && this.#origins.get(first);
    if (message === undefined) return undefined;
    const fresh = this.#convert(message, this.messages.indexOf(message));
    const found = list.slice(index, index + fresh.length);
    return JSON.stringify(found) === JSON.stringify(fresh) ? { message, length: fresh.length } : undefined;
  }

  #convert(message: ModelMessage, index: number): LlmMessage[] {
    return toLlmMessages(this.idOf(message) ?? `${message.role}-${index}`, message);
  }
}
