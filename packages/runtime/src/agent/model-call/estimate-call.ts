/**
 * Estimates the tokens of a model call before it is made, upwards: the input from its length, and for the answer the most
 * that it may have. A tokenizer of the provider would be exact, but each provider has its own.
 */
import type { ModelMessage, ToolCatalogItem } from '@goondan/types';

/** A token of common tokenizers has 4 bytes in English, 3 in code, and more than 2 in almost everything else. */
const BYTES_PER_TOKEN = 2;
/** The tokens around each message and each tool: roles, marks, the frame of a schema. */
const TOKENS_PER_ITEM = 12;
/** The most tokens of an image at common providers. */
const TOKENS_PER_IMAGE = 6_000;
/** The estimate for the answer of a model whose maximum is not known. */
export const USUAL_ANSWER = 4_096;

/** Returns an estimate of the input tokens that is rather too high than too low. */
export function estimateInput(messages: readonly ModelMessage[], tools: readonly ToolCatalogItem[]): number {
  let bytes = 0;
  let images = 0;
  for (const message of messages) {
    bytes += Buffer.byteLength(
      JSON.stringify(message, (key, value: unknown) => {
        if ((key !== 'image' && key !== 'data') || typeof value !== 'string' || value.length < 1_000) return value;
        images += 1;
        return '';
      }),
    );
  }
  for (const { name, description, parameters } of tools) {
    bytes += Buffer.byteLength(JSON.stringify({ name, description, parameters }));
  }
  const items = messages.length + tools.length + 1;
  return Math.ceil(bytes / BYTES_PER_TOKEN) + items * TOKENS_PER_ITEM + images * TOKENS_PER_IMAGE;
}
