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
 * 7. References become bytes, and a stored text file becomes text, because most providers reject text files. The same goes
 *    for SVG. A message with references is not remembered, because it would keep the bytes in memory.
 * 8. A file that the provider does not accept in the result of a tool follows the results, in a user message. One that it
 *    does not accept at all is only named there: a tool may return anything, and the conversation must go on. For the same
 *    reason, such a stored file of an earlier input is only named. That of the newest input is refused before
 *    ({@link findUnfitInput}). The bytes of a picture decide, because providers look at them, too.
 *
 * The prompt equals the one that the AI SDK writes, except for rules 3 to 8, and for URLs, which are never downloaded
 * here. A test compares the two prompts.
 */
import type { LanguageModelV4Message, LanguageModelV4Prompt, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type {
  AssistantPart,
  ContentPart,
  FilePart,
  ImagePart,
  ModelMessage,
  ToolCallPart,
  ToolResultPart,
  UserPart,
} from '@goondan/types';
import { describeFile, digestOfReference, sourceOfPart } from '@goondan/types';
import { describeUnfit } from '../../../files/describe-unfit.ts';
import { isPictureType, sniffImageType } from '../../../files/detect-media-type.ts';
import { toProviderName } from '../../tool/provider-tool-name.ts';
import { filesIn } from '../../files/files-in.ts';
import { isForeign } from './foreign-part.ts';
import { isKeptPart, restoreKeptPart } from './kept-part.ts';
import { referencesIn } from '../../files/find-references.ts';
import { type LoadedFiles, noFiles } from './load-files.ts';
import { mergeProviderOptions } from './merge-provider-options.ts';
import type { ProviderName } from './provider-table.ts';
import { toFileData } from './to-file-data.ts';

export type SystemPlacement = 'in-place' | 'front' | 'joined';

/** Maps a message to its converted form, for one provider. */
export type PromptMemo = WeakMap<ModelMessage, Converted>;

/** A converted message. `after`: the files of tool results that follow it (rule 8). */
interface Converted {
  readonly message: LanguageModelV4Message;
  readonly after?: MessageOf<'user'>['content'];
}

export interface PromptFiles {
  /** The bytes to which messages refer. */
  readonly loaded: LoadedFiles;
  /** Tells where the provider accepts a file of this media type that a tool returned. */
  readonly placeOfResult: (mediaType: string) => ResultFilePlace;
}

/** In the result of the tool, in the user message after it, or nowhere. */
export type ResultFilePlace = 'inside' | 'after' | 'nowhere';

const onlyInline: PromptFiles = { loaded: noFiles, placeOfResult: () => 'inside' };

type MessageOf<Role extends LanguageModelV4Message['role']> = Extract<LanguageModelV4Message, { role: Role }>;

export function toPrompt(
  messages: readonly ModelMessage[],
  placement: SystemPlacement,
  memo: PromptMemo,
  provider?: ProviderName,
  files: PromptFiles = onlyInline,
): LanguageModelV4Prompt {
  const prompt: LanguageModelV4Prompt = [];
  let results: MessageOf<'tool'>[] = [];
  let resultFiles: MessageOf<'user'>['content'] = [];
  let system: MessageOf<'system'>[] = [];
  const settle = () => {
    if (results.length > 0) prompt.push(mergeToolMessages(results));
    if (resultFiles.length > 0) prompt.push({ role: 'user', content: resultFiles });
    results = [];
    resultFiles = [];
    if (placement !== 'in-place') return;
    prompt.push(...system);
    system = [];
  };

  const newestInput = newestInputOf(messages);
  for (const message of messages) {
    const isEarlier = message.role === 'user' && message !== newestInput;
    const { message: converted, after } = convertOnce(
      isEarlier ? nameUnfit(message, files) : message,
      memo,
      provider,
      files,
    );
    if (after !== undefined) resultFiles.push(...after);
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

/** Returns the first stored file of the newest input that the provider does not accept. */
export function findUnfitInput(
  messages: readonly ModelMessage[],
  files: PromptFiles,
): ImagePart | FilePart | undefined {
  const newest = newestInputOf(messages);
  if (newest === undefined || referencesIn(newest).length === 0) return undefined;
  return filesIn(newest).find((part) => isUnfit(part, files));
}

function newestInputOf(messages: readonly ModelMessage[]) {
  return messages.findLast((message) => message.role === 'user');
}

/** Names the stored files that the provider does not accept. Returns the same message if there are none. */
function nameUnfit<Message extends Extract<ModelMessage, { role: 'user' }>>(
  message: Message,
  files: PromptFiles,
): Message {
  if (referencesIn(message).length === 0 || typeof message.content === 'string') return message;
  const { content } = message;
  const named = content.map((part): UserPart =>
    part.type !== 'text' && isUnfit(part, files) ? { type: 'text', text: describeUnfit(part) } : part,
  );
  return named.every((part, index) => part === content[index]) ? message : { ...message, content: named };
}

function isUnfit(part: ImagePart | FilePart, files: PromptFiles): boolean {
  return placeOf(convertFile(part, files), files) === 'nowhere';
}

/** Returns true if the type is one of those that bytes show, and the bytes do not show it. */
function isFalsePicture({ data, mediaType }: ReturnType<typeof toFileData>): boolean {
  if (data.type !== 'data' || typeof data.data !== 'string') return false;
  return isPictureType(mediaType) && sniffImageType(data.data) === undefined;
}

/** Tells where the provider accepts a converted part that a tool returned. */
function placeOf(part: ReturnType<typeof convertContentPart>, files: PromptFiles): ResultFilePlace {
  if (part.type === 'text') return 'inside';
  return isFalsePicture(part) ? 'nowhere' : files.placeOfResult(part.mediaType);
}

function convertOnce(
  message: ModelMessage,
  memo: PromptMemo,
  provider: ProviderName | undefined,
  files: PromptFiles,
): Converted {
  const known = memo.get(message);
  if (known !== undefined) return known;
  const converted = convert(message, provider, files);
  if (isDeepFrozen(message) && referencesIn(message).length === 0) memo.set(message, converted);
  return converted;
}

function convert(message: ModelMessage, provider: ProviderName | undefined, files: PromptFiles): Converted {
  switch (message.role) {
    case 'system':
      return { message };
    case 'tool':
      return convertResults(message, files);
    case 'user':
      return { message: { role: 'user', content: convertUserContent(message.content, files), ...options(message) } };
    case 'assistant': {
      const content = convertAssistantContent(message.content, provider, files);
      return { message: { role: 'assistant', content, ...options(message) } };
    }
  }
}

function convertResults(message: Extract<ModelMessage, { role: 'tool' }>, files: PromptFiles): Converted {
  const after: MessageOf<'user'>['content'] = [];
  const content = message.content.map((part) => convertResult(part, files, after));
  return { message: { ...message, content }, ...(after.length > 0 && { after }) };
}

/** Converts a result. Files that the provider does not accept in it are added to `after`. */
function convertResult(part: ToolResultPart, files: PromptFiles, after: MessageOf<'user'>['content']) {
  const { output } = part;
  const named = { ...part, toolName: toProviderName(part.toolName) };
  if (output.type !== 'content') return { ...named, output };
  const inside = output.value.map((each): ReturnType<typeof convertContentPart> => {
    const converted = convertContentPart(each, files);
    const place = placeOf(converted, files);
    if (converted.type === 'text' || place === 'inside') return converted;
    if (each.type === 'text') return each;
    if (place === 'nowhere') return { type: 'text', text: describeUnfit(each) };
    after.push({ type: 'text', text: `A file of the result of ${named.toolName} (${part.toolCallId}):` }, converted);
    return { type: 'text', text: `${describeFile(each)} (in the next message)` };
  });
  if (inside.some(({ type }) => type === 'file')) return { ...named, output: { ...output, value: inside } };
  // Providers write content without files as JSON, which a model reads less well than text.
  const value = inside.map((each) => (each.type === 'text' ? each.text : '')).join('\n');
  return { ...named, output: { type: 'text' as const, value, ...options(output) } };
}

function convertContentPart(part: ContentPart, files: PromptFiles) {
  return part.type === 'text' ? part : convertFile(part, files);
}

function convertUserContent(content: string | readonly UserPart[], files: PromptFiles): MessageOf<'user'>['content'] {
  const parts: readonly UserPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  const said = parts.filter((part) => part.type !== 'text' || part.text !== '');
  return said.map((part) => convertContentPart(part, files));
}

function convertAssistantContent(
  content: string | readonly AssistantPart[],
  provider: ProviderName | undefined,
  files: PromptFiles,
): MessageOf<'assistant'>['content'] {
  const parts: readonly AssistantPart[] = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
  return parts.flatMap((part) => {
    if (provider !== undefined && isForeign(part, provider)) return [];
    // Empty text with options is kept, because the options may contain a signature of the provider.
    if (part.type === 'text' && part.text === '' && part.providerOptions === undefined) return [];
    if (part.type === 'custom' && isKeptPart(part)) return restoreKeptPart(part) ?? [];
    if (part.type === 'tool-call') return underProviderName(part);
    // The provider ran this tool itself, so its result stays in the answer.
    if (part.type === 'tool-result') return convertResult(part, { ...files, placeOfResult: () => 'inside' }, []);
    return part.type === 'file' ? convertFile(part, files) : part;
  });
}

function underProviderName(part: ToolCallPart): ToolCallPart {
  return { ...part, toolName: toProviderName(part.toolName) };
}

function convertFile(part: ImagePart | FilePart, { loaded }: PromptFiles) {
  const file = toFileData(sourceOfPart(part), part.mediaType ?? 'image', loaded);
  const text = isStoredText(part) ? readText(file.data) : undefined;
  if (text !== undefined) return { type: 'text' as const, text: underFilename(text, part), ...options(part) };
  const filename = part.type === 'file' ? part.filename : undefined;
  return { type: 'file' as const, ...file, ...(filename !== undefined && { filename }), ...options(part) };
}

const textTypes = /^(?:text\/|image\/svg\+xml$|application\/(?:json|xml|yaml|x-yaml|javascript|typescript)$)/;

function isStoredText(part: ImagePart | FilePart): boolean {
  return textTypes.test(part.mediaType ?? '') && digestOfReference(sourceOfPart(part)) !== undefined;
}

/** Decodes text; `undefined` when the bytes are not UTF-8. */
function readText(data: ReturnType<typeof toFileData>['data']): string | undefined {
  if (data.type !== 'data' || typeof data.data !== 'string') return undefined;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Buffer.from(data.data, 'base64'));
  } catch {
    return undefined;
  }
}

function underFilename(text: string, { filename }: ImagePart | FilePart): string {
  return filename === undefined ? text : `${filename}:\n\n${text}`;
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
