/**
 * Reads the reply of a call that does not stream. Each text is passed to listeners as one delta, so listeners work with
 * and without streaming.
 */
import type { LanguageModelV4GenerateResult } from '@ai-sdk/provider';
import type { ModelReply } from '@goondan/types';
import type { StreamReading } from './read-stream.ts';
import { toReplyPart } from './to-reply-part.ts';
import { toReply } from './to-reply.ts';

export function readGenerated(result: LanguageModelV4GenerateResult, reading: StreamReading): ModelReply {
  const content = result.content.flatMap((part) => toReplyPart(part, reading.provider) ?? []);
  const { finishReason, usage, response } = result;
  const reply = toReply({ content, finishReason, usage, response }, reading.label);
  for (const part of reply.content) {
    if ((part.type === 'text' || part.type === 'reasoning') && part.text !== '') {
      reading.onDelta({ type: part.type, text: part.text });
    }
  }
  return reply;
}
