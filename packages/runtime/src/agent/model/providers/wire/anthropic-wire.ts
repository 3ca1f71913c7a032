/** The wire format of Anthropic's messages API. For tests only. */
import type { JsonObject } from '@goondan/types';
import { argumentsText, objectsIn, type WireDialect, type WireReply } from './wire-dialect.ts';

const head = { id: 'msg_1', type: 'message', role: 'assistant', model: 'wire-model' };

export const anthropicWire: WireDialect = {
  isStreaming: (_path, body) => body['stream'] === true,
  toolNames: ({ tools }) => objectsIn(tools).map(({ name }) => name),

  events(reply) {
    const message = { ...head, content: [], stop_reason: null, stop_sequence: null, usage: usage(reply, 1) };
    return [
      event('message_start', { message }),
      event('ping', {}),
      ...contentBlocks(reply).flatMap((block, index) => blockEvents(block, index, reply)),
      event('message_delta', {
        delta: { stop_reason: stopReason(reply), stop_sequence: null },
        usage: { output_tokens: reply.usage.output },
      }),
      event('message_stop', {}),
    ];
  },

  body: (reply) => ({
    ...head,
    content: contentBlocks(reply),
    stop_reason: stopReason(reply),
    stop_sequence: null,
    usage: usage(reply, reply.usage.output),
  }),

  error: (_status, type, message) => ({ type: 'error', error: { type, message } }),
  errorEvent: (message) => event('error', { error: { type: 'overloaded_error', message } }),
};

function contentBlocks(reply: WireReply): JsonObject[] {
  const { reasoning, text, calls = [] } = reply;
  return [
    ...(reasoning === undefined
      ? []
      : [{ type: 'thinking', thinking: reasoning.text, signature: reasoning.signature }]),
    ...(text === undefined ? [] : [{ type: 'text', text: text.join('') }]),
    ...calls.map(({ id, name, args }) => ({ type: 'tool_use', id, name, input: args })),
  ];
}

function blockEvents(block: JsonObject, index: number, reply: WireReply): string[] {
  const delta = (value: JsonObject) => event('content_block_delta', { index, delta: value });
  const stop = event('content_block_stop', { index });
  const start = (content_block: JsonObject) => event('content_block_start', { index, content_block });
  switch (block['type']) {
    case 'thinking':
      return [
        start({ type: 'thinking', thinking: '', signature: '' }),
        delta({ type: 'thinking_delta', thinking: reply.reasoning?.text ?? '' }),
        delta({ type: 'signature_delta', signature: reply.reasoning?.signature ?? '' }),
        stop,
      ];
    case 'text': {
      const pieces = (reply.text ?? []).map((text) => delta({ type: 'text_delta', text }));
      return [start({ type: 'text', text: '' }), ...pieces, stop];
    }
    default: {
      const call = reply.calls?.find(({ id }) => id === block['id']);
      const json = call === undefined ? '' : argumentsText(call, reply);
      const middle = Math.ceil(json.length / 2);
      return [
        start({ ...block, input: {} }),
        delta({ type: 'input_json_delta', partial_json: json.slice(0, middle) }),
        delta({ type: 'input_json_delta', partial_json: json.slice(middle) }),
        stop,
      ];
    }
  }
}

function event(type: string, fields: JsonObject): string {
  return `event: ${type}\ndata: ${JSON.stringify({ type, ...fields })}\n\n`;
}

function stopReason({ calls = [], isTruncated = false }: WireReply): string {
  if (isTruncated) return 'max_tokens';
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

/** Returns the usage as Anthropic reports it: tokens read from the cache and written to it are counted separately. */
function usage({ usage: { input, cached, written = 0 } }: WireReply, output: number): JsonObject {
  return {
    input_tokens: input - cached - written,
    cache_read_input_tokens: cached,
    cache_creation_input_tokens: written,
    output_tokens: output,
  };
}
