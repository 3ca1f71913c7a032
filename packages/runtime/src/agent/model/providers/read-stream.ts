/**
 * Reads a provider's stream to its end: passes on each delta at once, and returns the finished reply. Parts keep the
 * order in which they began. A provider may send metadata of a block (such as a signature) with the block's start, its
 * deltas or its end; all of it is kept.
 */
import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { AssistantPart, ModelDelta, ModelReply, ReasoningPart, TextPart } from '@goondan/types';
import { mergeProviderOptions } from './merge-provider-options.ts';
import { metadata, toReplyPart } from './to-reply-part.ts';
import { toReply, type ProviderAnswer } from './to-reply.ts';

/** An error that the provider reported inside its stream, passed on unchanged. */
export class StreamedError extends Error {
  override readonly name = 'StreamedError';

  constructor(readonly reported: unknown) {
    super('The provider reported an error in the middle of its reply.', { cause: reported });
  }
}

export interface StreamReading {
  /** The provider's name, which becomes the first half of a kept part's kind. */
  readonly provider: string;
  /** `provider/model`, for messages to people. */
  readonly label: string;
  /** Aborting this signal stops the reading: the rest of the stream is cancelled, and the reply is incomplete. */
  readonly signal: AbortSignal;
  readonly onDelta: (delta: ModelDelta) => void;
}

export async function readStream(
  stream: ReadableStream<LanguageModelV4StreamPart>,
  reading: StreamReading,
): Promise<ModelReply> {
  const reader = stream.getReader();
  // A failed cancel is ignored, because the reading has already ended.
  const cancel = () => void reader.cancel(reading.signal.reason).catch(() => {});
  if (reading.signal.aborted) cancel();
  reading.signal.addEventListener('abort', cancel, { once: true });
  const collector = collectParts(reading);
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return toReply(collector.answer, reading.label);
      collector.add(value);
    }
  } finally {
    reading.signal.removeEventListener('abort', cancel);
    cancel();
  }
}

function collectParts({ provider, onDelta }: StreamReading) {
  const content: AssistantPart[] = [];
  const answer: ProviderAnswer = { content, finishReason: undefined, usage: undefined, response: undefined };
  const open = new Map<string, TextPart | ReasoningPart>();

  const begin = (type: 'text' | 'reasoning', id: string) => {
    const block: TextPart | ReasoningPart = { type, text: '' };
    open.set(`${type} ${id}`, block);
    content.push(block);
    return block;
  };
  const describe = (block: TextPart | ReasoningPart, providerMetadata: object | undefined) => {
    const options = mergeProviderOptions(block.providerOptions, metadata(providerMetadata).providerOptions);
    if (options !== undefined) block.providerOptions = options;
  };

  const add = (part: LanguageModelV4StreamPart) => {
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        return describe(begin(wordsOf(part.type), part.id), part.providerMetadata);
      case 'text-delta':
      case 'reasoning-delta': {
        const type = wordsOf(part.type);
        const block = open.get(`${type} ${part.id}`) ?? begin(type, part.id);
        if (part.providerMetadata !== undefined) describe(block, part.providerMetadata);
        if (part.delta === '') return;
        block.text += part.delta;
        return onDelta({ type, text: part.delta });
      }
      case 'text-end':
      case 'reasoning-end': {
        const key = `${wordsOf(part.type)} ${part.id}`;
        const block = open.get(key);
        open.delete(key);
        if (block !== undefined) describe(block, part.providerMetadata);
        return;
      }
      case 'response-metadata':
        answer.response = part;
        return;
      case 'finish':
        answer.finishReason = part.finishReason;
        answer.usage = part.usage;
        return;
      case 'error':
        throw new StreamedError(part.error);
      // These parts are ignored: a later `tool-call` part repeats the whole input, and the other parts are not content.
      case 'tool-input-start':
      case 'tool-input-delta':
      case 'tool-input-end':
      case 'stream-start':
      case 'ping':
      case 'raw':
        return;
      default: {
        const kept = toReplyPart(part, provider);
        if (kept !== undefined) content.push(kept);
      }
    }
  };
  return { answer, add };
}

function wordsOf(type: `${'text' | 'reasoning'}-${string}`): 'text' | 'reasoning' {
  return type.startsWith('text') ? 'text' : 'reasoning';
}
