/**
 * Context blocks. The model gets them as system messages at the start of the request, the block with the highest priority
 * first. They belong to one model call and never enter the conversation.
 *
 * The list starts with the agent's system prompt as a block of type `system.prompt`. The text of this block is sent as it
 * is; every other block starts with a line that has its type: `[memory.context]`.
 */
import type { JsonValue, ModelMessage } from '@goondan/types';
import { resultError } from './compat-error.ts';
import type { Entry } from './entries.ts';
import type { ContextBlock } from './old-types.ts';

const PROMPT = 'system.prompt';

export function firstBlocks(systemPrompt: string | undefined): ContextBlock[] {
  return systemPrompt === undefined ? [] : [{ type: PROMPT, data: systemPrompt }];
}

/** Returns the block messages, in the order in which the model gets them. */
export function showBlocks(blocks: readonly ContextBlock[]): ModelMessage[] {
  const sorted = blocks.toSorted(({ priority: one = 0 }, { priority: other = 0 }) => other - one);
  const texts = sorted.map(textOfBlock).filter((text) => text !== '');
  return texts.map((content) => ({ role: 'system', content }));
}

function textOfBlock({ type, data, items = [] }: ContextBlock): string {
  const lines = [...(data === undefined ? [] : [show(data)]), ...items.map((item) => `- ${show(item)}`)];
  if (type === PROMPT) return lines.join('\n');
  return lines.length === 0 ? '' : [`[${type}]`, ...lines].join('\n');
}

function show(value: JsonValue): string {
  return typeof value === 'string' ? value : JSON.stringify(value);
}

const SHAPE =
  'A context block is `{ type, data, items, priority }`: the model gets `data`, a text or JSON, and each of the `items`.';

export function checkBlocks(blocks: unknown, { member, point }: Entry): void {
  const refuse = (problem: string) => resultError(member.name, point, problem, SHAPE);
  if (!Array.isArray(blocks)) throw refuse('blocks is not an array of context blocks');
  for (const block of blocks as unknown[]) {
    const fields = (typeof block === 'object' && block !== null ? block : {}) as Record<string, unknown>;
    const { type, data, items, priority, ...others } = fields;
    if (typeof type !== 'string' || type === '') throw refuse('a context block has no type');
    if (items !== undefined && !Array.isArray(items)) {
      throw refuse(`the items of context block "${type}" are not an array`);
    }
    if (priority !== undefined && !Number.isFinite(priority)) {
      throw refuse(`the priority of context block "${type}" is not a number`);
    }
    const isEmpty = data === undefined && items === undefined;
    const unknown = Object.keys(others).slice(0, 5).join(', ');
    if (isEmpty && unknown !== '') {
      throw refuse(`context block "${type}" has neither data nor items, but ${unknown}, which the model does not get`);
    }
    if (isEmpty) member.warnOnce(`${point}: a context block has neither data nor items, so it is left out. ${SHAPE}`);
    if (unknown !== '') member.warnOnce(`${point}: fields of a context block are left out: ${unknown}. ${SHAPE}`);
  }
}
