/**
 * Converts a conversation to the prompt of a provider. Invariants:
 *
 * 1. A message is converted once: with a history of 10 000 messages, a later call costs one lookup per message. Only
 *    deeply frozen messages are remembered, because only these cannot change later.
 * 2. Results of tools follow their calls as one message, even if system messages came in between.
 * 3. System messages go where the provider accepts them ({@link SystemPlacement}). `front` is for Anthropic, which has
 *    one system field (a later system message needs a beta), and for Google, which rejects a system message that is not
 *    at the beginning. `in-place` is for OpenAI, which accepts system messages anywhere; if they stay in place, its
 *    prompt cache stays valid. `joined` is for `openai-compatible`, because many chat templates accept only a single
 *    system message, at the beginning.
 * 4. Empty text and empty messages are not sent: providers answer such a conversation with 400, now and in every later
 *    call.
 * 5. Tools have the names that providers accept ({@link toProviderName}).
 * 6. Parts that only another provider understands are not sent ({@link isForeign}).
 *
 * The prompt equals the one that the AI SDK writes, except for rules 3 to 6, and for URLs, which are never downloaded
 * here. A test compares the two prompts.
 */
import type { LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type {
  AssistantPart,
  FilePart,
  ImagePart,
  ModelMessage,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '@goondan/types';
import { toProviderName } from '../../tool/provider-tool-name.ts';
import { isForeign } from './foreign-part.ts';
import { isKeptPart, restoreKeptPart } from './kept-part.ts';
import { mergeProviderOptions } from './merge-provider-options.ts';
import type { ProviderName } from './provider-table.ts';
import { toFileData } from './to-file-data.ts';

export type SystemPlacement = 'in-place' | 'front' | 'joined';

/** Maps a message to its converted form, for one provider. */
export type PromptMemo = WeakMap<ModelMessage, LanguageModelV4Message>;

type MessageOf<Role extends LanguageModelV4Message['role']> = Extract<LanguageModelV4Message, { role: Role }>;

export function toPrompt(
  messages: readonly ModelMessage[],
  placement: SystemPlacement,
  memo: PromptMemo,
  provider?: ProviderName,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  let results: MessageOf<'tool'>[] = [];
  let system: MessageOf<'system'>[] = [];
  const settle = () => {
    if (results.length > 0) prompt.push(mergeToolMessages(results));
    results = [];
    if (placement !== 'in-place') return;
    prompt.push(...system);
    system = [];
  };

  for (const message of messages) {
    const converted = convertOnce(message, memo, provider);
    if (isEmpty(converted)) continue;
    if (converted.role === 'system') system.push(converted);
    else if (converted.role === 'tool') results.push(converted);
    else {
      settle();
      prompt.push(converted);
    }
  }
  settle();
  return system.length === 0 ? prompt : [...(placement === 'joined' ? joinSystem(system) : system), ...prompt];
}

function convertOnce(
  message: ModelMessage,
  memo: PromptMemo,
  provider: ProviderName | undefined,
): LanguageModelV4Message {
  const known = memo.get(message);
  if (known !== undefined) return known;
  const converted = convert(message, provider);
  if (isDeepFrozen(message)) memo.set(message, converted);
  return converted;
}

function convert(message: ModelMessage, provider: ProviderName | undefined): LanguageModelV4Message {
  switch (message.role) {
    case 'system':
      return message;
    case 'tool':
      return { ...message, content: message.content.map(underProviderName) };
    case 'user':
      return { role: 'user', content: convertUserContent(message.content), ...options(message) };
    case 'assistant':
      return { role: 'assistant', content: convertAssistantContent(message.content, provider), ...options(message) };
  }
}

function convertUserContent(content: string | readonly UserPart[]): MessageOf<'user'>['content'] {
  const parts: readonly UserPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const said = parts.filter((part) => part.type !== 'text' || part.text !== '');
  return said.map((part) => (part.type === 'text' ? part : convertFile(part)));
}

function convertAssistantContent(
  content: string | readonly AssistantPart[],
  provider: ProviderName | undefined,
): MessageOf<'assistant'>['content'] {
  const parts: readonly AssistantPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return parts.flatMap((part) => {
    if (provider !== undefined && isForeign(part, provider)) return [];
    // Empty text with options is kept, because the options may contain a signature of the provider.
    if (part.type === 'text' && part.text === '' && part.providerOptions === undefined) return [];
    if (part.type === 'custom' && isKeptPart(part)) return restoreKeptPart(part) ?? [];
    if (part.type === 'tool-call' || part.type === 'tool-result') return underProviderName(part);
    return part.type === 'file' ? convertFile(part) : part;
  });
}

function underProviderName<Part extends ToolCallPart | ToolResultPart>(part: Part): Part {
  return { ...part, toolName: toProviderName(part.toolName) };
}

function convertFile(part: ImagePart | FilePart) {
  const file =
    part.type === 'image' ? toFileData(part.image, part.mediaType ?? 'image') : toFileData(part.data, part.mediaType);
  const filename = part.type === 'file' ? part.filename : undefined;
  return { type: 'file' as const, ...file, ...(filename !== undefined && { filename }), ...options(part) };
}

/**
 * Merges tool messages. The options of each message except the last move to that message's last part, so that they
 * still apply to the same position.
 */
function mergeToolMessages(messages: readonly MessageOf<'tool'>[]): MessageOf<'tool'> {
  const last = messages.at(-1);
  if (last === undefined || messages.length === 1) return last ?? { role: 'tool', content: [] };
  const content = messages.flatMap((message) => {
    const part = message.content.at(-1);
    if (message === last || part === undefined || message.providerOptions === undefined) return message.content;
    const providerOptions = mergeProviderOptions(message.providerOptions, part.providerOptions);
    return [...message.content.slice(0, -1), { ...part, ...options({ providerOptions }) }];
  });
  return { role: 'tool', content, ...options(last) };
}

function joinSystem(messages: readonly MessageOf<'system'>[]): [MessageOf<'system'>] {
  const content = messages.map((message) => message.content).join('\n\n');
  const providerOptions = mergeProviderOptions(...messages.map((message) => message.providerOptions));
  return [{ role: 'system', content, ...options({ providerOptions }) }];
}

function isEmpty(message: LanguageModelV4Message): boolean {
  return message.content.length === 0 && !(message.role === 'system' && message.providerOptions !== undefined);
}

function options(from: { providerOptions?: SharedV4ProviderOptions | undefined }) {
  return from.providerOptions === undefined ? {} : { providerOptions: from.providerOptions };
}

function isDeepFrozen(value: unknown): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return Object.isFrozen(value) && Object.values(value).every(isDeepFrozen);
}
