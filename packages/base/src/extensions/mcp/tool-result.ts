/**
 * Converts the answer of a server to JSON for a model. Binary data is described and not included, because its text is
 * long and means nothing to the model.
 */
import type { JsonObject, JsonValue } from '@goondan/types';
import { isObject } from '../../json/is-object.ts';
import type { ContentBlock, ToolReply } from './mcp-client.ts';

/**
 * Returns the output for the model. If all content is text, the output is the structured content or, without structured
 * content, the text. Otherwise the output has all parts.
 */
export function toOutput({ content, structuredContent }: ToolReply, longest: number): JsonValue {
  const budget = new Budget(longest);
  const isText = content.every(({ type }) => type === 'text');
  if (isText && structuredContent !== undefined) return budget.cutJson(structuredContent);
  if (isText) return budget.cut(content.map(({ text }) => asText(text)).join('\n'));
  const blocks = content.map((block) => showBlock(block, budget));
  return structuredContent === undefined
    ? { content: blocks }
    : { content: blocks, structured: budget.cutJson(structuredContent) };
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
