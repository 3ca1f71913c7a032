/** The wire format of Google's generateContent and streamGenerateContent. For tests only. */
import type { JsonObject } from '@goondan/types';
import { dataEvent, objectsIn, type WireDialect, type WireReply } from './wire-dialect.ts';

const head = { modelVersion: 'wire-model', responseId: 'resp-1' };

export const googleWire: WireDialect = {
  isStreaming: (path) => path.includes(':streamGenerateContent'),
  toolNames: ({ tools }) =>
    objectsIn(tools).flatMap(({ functionDeclarations }) => objectsIn(functionDeclarations).map(({ name }) => name)),

  events(reply) {
    const chunk = (parts: JsonObject[], last: JsonObject = {}) =>
      dataEvent({
        ...head,
        candidates: [{ index: 0, content: { role: 'model', parts }, ...last }],
        usageMetadata: usage(reply),
      });
    return [
      ...reasoningParts(reply).map((part) => chunk([part])),
      ...(reply.text ?? []).map((text) => chunk([{ text }])),
      ...callParts(reply).map((part) => chunk([part])),
      chunk([{ text: '' }], { finishReason: finishReason(reply) }),
    ];
  },

  body: (reply) => ({
    ...head,
    candidates: [
      {
        index: 0,
        finishReason: finishReason(reply),
        content: {
          role: 'model',
          parts: [
            ...reasoningParts(reply),
            ...(reply.text === undefined ? [] : [{ text: reply.text.join('') }]),
            ...callParts(reply),
          ],
        },
      },
    ],
    usageMetadata: usage(reply),
  }),

  error: (status, type, message) => ({ error: { code: status, message, status: type } }),
  errorEvent: (message) => dataEvent({ error: { code: 503, message, status: 'UNAVAILABLE' } }),
};

function finishReason({ isTruncated = false }: WireReply): string {
  return isTruncated ? 'MAX_TOKENS' : 'STOP';
}

function reasoningParts({ reasoning }: WireReply): JsonObject[] {
  if (reasoning === undefined) return [];
  return [{ text: reasoning.text, thought: true, thoughtSignature: reasoning.signature }];
}

function callParts({ calls = [] }: WireReply): JsonObject[] {
  return calls.map(({ id, name, args, signature }) => ({
    functionCall: { id, name, args },
    ...(signature !== undefined && { thoughtSignature: signature }),
  }));
}

function usage({ usage: { input, output, cached } }: WireReply): JsonObject {
  return {
    promptTokenCount: input,
    candidatesTokenCount: output,
    totalTokenCount: input + output,
    cachedContentTokenCount: cached,
  };
}
