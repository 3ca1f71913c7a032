/** Results of tools that contain images and files. */
import { type InputPart, toContentPart } from './input-part.ts';
import type { JsonObject, JsonValue } from './json.ts';
import type { ContentPart } from './model-message.ts';

/** The output of a tool that shows the model text, images and files. */
export type ToolContent = { type: 'content'; value: ContentPart[] };

/**
 * Makes the output of a tool from text, images and files. The runtime stores the bytes and keeps a reference.
 *
 * @example return createToolContent([{ type: 'image', image: await readFile('chart.png'), filename: 'chart.png' }])
 */
export function createToolContent(parts: readonly InputPart[]): JsonObject {
  // Safe: a content part has only JSON fields, but TypeScript does not accept an interface as JSON.
  return { type: 'content', value: parts.map((part) => toContentPart(part) as unknown as JsonValue) };
}

/** Returns true if the output of a tool has the shape of {@link ToolContent}. Any other JSON is shown as it is. */
export function isToolContent(output: unknown): output is ToolContent {
  if (typeof output !== 'object' || output === null) return false;
  // Safe: the types of the fields are checked.
  const { type, value, ...others } = output as Readonly<Record<string, unknown>>;
  if (type !== 'content' || !Array.isArray(value) || Object.keys(others).length > 0) return false;
  return value.length > 0 && value.every(isContentPart);
}

function isContentPart(part: unknown): boolean {
  if (typeof part !== 'object' || part === null) return false;
  // Safe: the types of the fields are checked.
  const { type, text, image, data, mediaType } = part as Readonly<Record<string, unknown>>;
  if (type === 'text') return typeof text === 'string';
  if (type === 'image') return typeof image === 'string';
  return type === 'file' && typeof data === 'string' && typeof mediaType === 'string';
}
