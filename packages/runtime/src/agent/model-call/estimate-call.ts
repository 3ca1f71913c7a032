/**
 * Estimates the tokens of a model call before it is made, upwards: the input from its length, and for the answer the most
 * that it may have. A tokenizer of the provider would be exact, but each provider has its own.
 */
import type { JsonSchema, JsonValue, ModelMessage, ToolCatalogItem } from '@goondan/types';
import { isPlainObject } from '../../json/copy-json.ts';

/** A token of common tokenizers has 4 bytes in English, 3 in code, and more than 2 in almost everything else. */
const BYTES_PER_TOKEN = 2;
/** The tokens around a request, around each message, and around each tool: roles, marks, the frame of a schema. */
const TOKENS_PER_REQUEST = 8;
const TOKENS_PER_MESSAGE = 4;
const TOKENS_PER_TOOL = 12;
/** The most tokens of the instructions that a provider adds to a request with tools. */
const TOKENS_FOR_TOOLS = 550;
/** The most tokens of an image at common providers. */
const TOKENS_PER_IMAGE = 6_000;
/** The most tokens that are estimated for one file. Providers read a page of a PDF as text and as an image. */
const MOST_PER_FILE = 200_000;
/** The estimate for the answer of a model whose maximum is not known. */
export const USUAL_ANSWER = 4_096;

/**
 * Returns an estimate of the input tokens that is rather too high than too low. `schema`: the schema that the answer must
 * fit.
 */
export function estimateInput(
  messages: readonly ModelMessage[],
  tools: readonly ToolCatalogItem[],
  schema?: JsonSchema,
): number {
  let tokens = TOKENS_PER_REQUEST + (tools.length > 0 || schema !== undefined ? TOKENS_FOR_TOOLS : 0);
  for (const { content, providerOptions } of messages) {
    tokens += TOKENS_PER_MESSAGE + ofText(providerOptions);
    // Safe: messages have only JSON values.
    for (const part of typeof content === 'string' ? [content] : content)
      tokens += ofPart(part as unknown as JsonValue);
  }
  for (const { name, description, parameters } of tools) {
    tokens += TOKENS_PER_TOOL + ofText({ name, description, parameters });
  }
  return schema === undefined ? tokens : tokens + TOKENS_PER_TOOL + ofText(schema);
}

/** Estimates a part of a message, or a part inside a tool result. */
function ofPart(part: JsonValue): number {
  if (!isPlainObject(part)) return ofText(part);
  if (part['type'] === 'image') return TOKENS_PER_IMAGE;
  if (part['type'] === 'file') return ofFile(part);
  const { type, text, output, ...rest } = part;
  if (type === 'text') return ofText(text) + ofText(rest['providerOptions']);
  if (type !== 'tool-result' || !isPlainObject(output)) return TOKENS_PER_MESSAGE + ofText(part);
  const { value } = output;
  const result = output['type'] === 'content' && Array.isArray(value) ? value : [value ?? output];
  return result.reduce((sum: number, each) => sum + ofPart(each), TOKENS_PER_MESSAGE + ofText(rest));
}

/** Estimates a file by its size. The size of a file at a URL is not known. */
function ofFile({ data, size, mediaType, filename }: Readonly<Record<string, unknown>>): number {
  if (typeof mediaType === 'string' && mediaType.startsWith('image/')) return TOKENS_PER_IMAGE;
  const isUrl = typeof data === 'string' && /^https?:/i.test(data);
  if (isUrl) return MOST_PER_FILE;
  // Bytes that are not stored yet are in base64, which is longer.
  const bytes = typeof size === 'number' ? size : typeof data === 'string' ? data.length : 0;
  const tokens = Math.ceil(bytes / BYTES_PER_TOKEN) + ofText(filename);
  const isText = typeof mediaType === 'string' && /^text\/|json$|xml$|yaml$/.test(mediaType);
  return isText ? tokens : Math.min(TOKENS_PER_IMAGE + tokens, MOST_PER_FILE);
}

function ofText(value: unknown): number {
  if (value === undefined) return 0;
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? '');
  return Math.ceil(Buffer.byteLength(text) / BYTES_PER_TOKEN);
}
