/** Estimates the tokens of a message. Providers count differently, and asking a provider would cost a request. */
import type { Message } from '@goondan/types';

/** The estimate for a picture or another file of any size; the real cost depends on the provider. */
const TOKENS_OF_A_FILE = 1_000;
/** The tokens of the frame around every message. */
const TOKENS_OF_A_FRAME = 4;

/** Caches the counts, because messages never change. */
const known = new WeakMap<Message, number>();

export function estimateTokens(message: Message): number {
  const before = known.get(message);
  if (before !== undefined) return before;
  const tokens = TOKENS_OF_A_FRAME + countContent(message.data.content);
  known.set(message, tokens);
  return tokens;
}

/** Counts four ASCII characters as one token, and each character of other scripts as one token. */
export function countText(text: string): number {
  let plain = 0;
  for (let index = 0; index < text.length; index += 1) if (text.charCodeAt(index) < 128) plain += 1;
  return Math.ceil(plain / 4 + (text.length - plain));
}

function countContent(content: Message['data']['content']): number {
  if (typeof content === 'string') return countText(content);
  return content.reduce((sum, part) => sum + countPart(part), 0);
}

function countPart(part: Exclude<Message['data']['content'], string>[number]): number {
  switch (part.type) {
    case 'text':
    case 'reasoning':
      return countText(part.text);
    case 'image':
    case 'file':
      return TOKENS_OF_A_FILE;
    case 'tool-result':
      return part.output.type === 'content' ? countContent(part.output.value) : countText(JSON.stringify(part));
    default:
      return countText(JSON.stringify(part));
  }
}
