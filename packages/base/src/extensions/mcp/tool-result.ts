/**
 * Converts the answer of a server to JSON for a model. Images, audio and binary resources become files, which the runtime
 * stores. Lists and prompts only describe binary data, because its text is long and means nothing to a model.
 */
import { createToolContent, type InputPart, type JsonObject, type JsonValue } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import type { ContentBlock, ToolReply } from './mcp-client.ts';

/**
 * Returns the output for the model. If all content is text, the output is the structured content or, without structured
 * content, the text. With images, audio or binary resources, it is content with files. Otherwise the output has all parts.
 */
export function toOutput({ content, structuredContent }: ToolReply, longest: number): JsonValue {
  const budget = new Budget(longest);
  const isText = content.every(({ type }) => type === 'text');
  if (isText && structuredContent !== undefined) return budget.cutJson(structuredContent);
  if (isText) return budget.cut(content.map(({ text }) => asText(text)).join('\n'));
  if (content.some((block) => toFile(block) !== undefined)) return toFiles(content, structuredContent, budget);
  const blocks = content.map((block) => showBlock(block, budget));
  return structuredContent === undefined
    ? { content: blocks }
    : { content: blocks, structured: budget.cutJson(structuredContent) };
}

/**
 * Adds the reasons of people who declined to an answer: first, because a long answer is cut. Structured content becomes text, so
 * that both are shown.
 */
export function withNotes(reply: ToolReply, notes: readonly string[]): ToolReply {
  if (notes.length === 0) return reply;
  const { content, structuredContent, ...rest } = reply;
  const said =
    structuredContent === undefined
      ? content
      : [...content.filter(({ type }) => type !== 'text'), { type: 'text', text: JSON.stringify(structuredContent) }];
  const more = notes.map((note) => ({
    type: 'text',
    text: `A person declined a question of the server, and said: ${note}`,
  }));
  return { ...rest, content: [...more, ...said] };
}

function toFiles(content: readonly ContentBlock[], structured: JsonValue | undefined, budget: Budget): JsonValue {
  const parts = content.map((block): InputPart => {
    const file = toFile(block);
    if (file !== undefined) return file;
    if (block.type === 'text') return { type: 'text', text: budget.cut(asText(block.text)) };
    return { type: 'text', text: JSON.stringify(showBlock(block, budget)) };
  });
  const more: InputPart[] =
    structured === undefined ? [] : [{ type: 'text', text: JSON.stringify(budget.cutJson(structured)) }];
  return createToolContent([...parts, ...more]);
}

/** Returns the file of an image, of audio or of a binary resource; `undefined` for any other block. */
function toFile({ type, data, mimeType, resource }: ContentBlock): InputPart | undefined {
  if (type === 'image' && isBytes(data)) return { type, image: data, ...typeOf(mimeType) };
  if (type === 'audio' && isBytes(data)) return { type: 'file', data, ...typeOf(mimeType) };
  if (type !== 'resource' || !isObject(resource) || !isBytes(resource.blob)) return undefined;
  const filename = asText(resource.uri).split('/').at(-1) ?? '';
  const named = filename === '' ? {} : { filename: filename.slice(0, LONGEST_NAME) };
  return { type: 'file', data: resource.blob, ...typeOf(resource.mimeType), ...named };
}

const LONGEST_NAME = 255;

/** A server may send anything, so its bytes must really be base64. */
function isBytes(data: JsonValue | undefined): data is string {
  return typeof data === 'string' && data !== '' && /^[\w+/\s-]+={0,2}\s*$/.test(data);
}

function typeOf(mimeType: JsonValue | undefined): { readonly mediaType?: string } {
  const text = asText(mimeType);
  return /^[\w.+-]+\/[\w.+-]+$/.test(text) ? { mediaType: text } : {};
}

/** Returns the text of an answer, for an error message. */
export function textOf({ content }: ToolReply): string {
  return content.flatMap(({ type, text }) => (type === 'text' && typeof text === 'string' ? [text] : [])).join('\n');
}

export function showBlock(block: ContentBlock, budget: Budget): JsonObject {
  const { type } = block;
  if (type === 'text') return { type, text: budget.cut(asText(block.text)) };
  if (type === 'image' || type === 'audio') {
    return { type, mimeType: asText(block.mimeType), ...bytesOf(block.data) };
  }
  if (type === 'resource') return { type, ...showContents(block.resource, budget) };
  // Handles links, and blocks of later protocol versions.
  const { _meta, icons: _icons, ...shown } = block;
  // The cast is safe: the object came as JSON, so it contains no `undefined`.
  return budget.cutJson(shown as JsonObject) as JsonObject;
}

/** Describes one resource: its text, or its number of bytes. */
export function showContents(contents: JsonValue | undefined, budget: Budget): JsonObject {
  if (!isObject(contents)) return {};
  const { uri, mimeType } = contents;
  const about = { uri: asText(uri), ...(mimeType === undefined ? {} : { mimeType: asText(mimeType) }) };
  if (typeof contents.text === 'string') return { ...about, text: budget.cut(contents.text) };
  return { ...about, ...bytesOf(contents.blob) };
}

function bytesOf(base64: JsonValue | undefined): JsonObject {
  const length = typeof base64 === 'string' ? Buffer.byteLength(base64, 'base64') : 0;
  return { bytes: length, omitted: 'not text' };
}

export function asText(value: JsonValue | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** The character limit that all parts of an answer share. */
export class Budget {
  #left: number;

  constructor(characters: number) {
    this.#left = characters;
  }

  cut(whole: string): string {
    const room = this.#left;
    this.#left = Math.max(0, room - whole.length);
    if (whole.length <= room) return whole;
    return `${whole.slice(0, room).toWellFormed()}… (${whole.length - room} more characters)`;
  }

  /** Returns the value, or its text cut to the remaining limit. */
  cutJson(value: JsonValue): JsonValue {
    const whole = JSON.stringify(value);
    if (whole.length > this.#left) return { cut: this.cut(whole) };
    this.#left -= whole.length;
    return value;
  }
}
