/** Computes a plausible, deterministic token usage: four characters count as one token. */
import type { AssistantPart, ModelMessage, TokenUsage, ToolResultPart, UserPart } from '@goondan/types';

export const charactersPerToken = 4;

/** Returns a function that counts the tokens of a request and its reply. Use one counter per model. */
export function openUsageCounter() {
  // A request contains the whole history, and only its end is new. So the length of each content is cached: 10 000
  // messages cost one lookup each, instead of a conversion of all their JSON.
  const known = new WeakMap<object, number>();
  const measure = (content: ModelMessage['content']): number => {
    if (typeof content === 'string') return content.length;
    const length = known.get(content) ?? measureParts(content);
    known.set(content, length);
    return length;
  };
  return (messages: readonly ModelMessage[], reply: readonly AssistantPart[]): TokenUsage => {
    let inputLength = 0;
    for (const message of messages) inputLength += measure(message.content);
    const inputTokens = Math.ceil(inputLength / charactersPerToken);
    const outputTokens = Math.ceil(measureParts(reply) / charactersPerToken);
    return { inputTokens, outputTokens, totalTokens: inputTokens + outputTokens };
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
