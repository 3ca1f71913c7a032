/** Computes a plausible, deterministic token usage: four characters count as one token. */
import type { AssistantPart, ModelMessage, TokenUsage, ToolResultPart, UserPart } from '@goondan/types';

export const charactersPerToken = 4;

/** Returns a function that counts the tokens of a request and its reply. Use one counter per model. */
export function openUsageCounter() {
  const measure = openMeasure();
  /** The contents of the last request, and for each of them the length of all contents up to it. */
  const contents: ModelMessage['content'][] = [];
  const lengths: number[] = [];
  return (messages: readonly ModelMessage[], reply: readonly AssistantPart[]): TokenUsage => {
    // A request contains the whole history, and only its end is new. So only the end is measured.
    const same = countSame(contents, messages);
    contents.length = same;
    lengths.length = same;
    for (let at = same; at < messages.length; at++) {
      const content = messages[at]?.content ?? '';
      lengths.push((lengths.at(-1) ?? 0) + measure(content));
      contents.push(content);
    }
    const inputTokens = Math.ceil((lengths.at(-1) ?? 0) / charactersPerToken);
    const outputTokens = Math.ceil(measureParts(reply) / charactersPerToken);
    return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
  };
}

/** Counts the messages at the beginning that have these contents. */
function countSame(contents: readonly ModelMessage['content'][], messages: readonly ModelMessage[]): number {
  const longest = Math.min(contents.length, messages.length);
  let count = 0;
  while (count < longest && messages[count]?.content === contents[count]) count += 1;
  return count;
}

/** Returns a function that measures a content, once: the requests of several conversations may alternate. */
function openMeasure(): (content: ModelMessage['content']) => number {
  const known = new WeakMap<object, number>();
  return (content) => {
    if (typeof content === 'string') return content.length;
    const found = known.get(content);
    if (found !== undefined) return found;
    const length = measureParts(content);
    known.set(content, length);
    return length;
  };
}

function measureParts(parts: readonly (UserPart | AssistantPart | ToolResultPart)[]): number {
  return parts.reduce((length, part) => length + measurePart(part), 0);
}

/** Returns the number of characters in a part. Images, files and parts of other providers have no text to count. */
function measurePart(part: UserPart | AssistantPart): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return part.text.length;
    case 'tool-call':
      return part.toolName.length + JSON.stringify(part.input).length;
    case 'tool-result':
      return JSON.stringify(part.output).length;
    default:
      return 0;
  }
}
