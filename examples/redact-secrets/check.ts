import assert from 'node:assert/strict';
import { extensionFile, scriptedAgent } from '@goondan/runtime/testing';

// Words that arrive in pieces, as from a real model.
const words = ['The key ', 'is sk-', 'live-12345678', ', keep it safe.'];
const careless = await scriptedAgent({
  model: {
    async generate(request) {
      for (const text of words) request.onDelta({ type: 'text', text });
      const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
      return { content: [{ type: 'text', text: words.join('') }], finishReason: 'stop', usage };
    },
  },
  extensions: [extensionFile('redact-secrets', import.meta.dirname, './redact-secrets.ts')],
});

const { text, deltas } = await careless.say('My key is ghp_abcdefgh12345678. Which is yours?');

// On the way to the model: the model never saw the secret.
const [request] = careless.requests;
assert.deepEqual(request?.messages.at(-1), { role: 'user', content: 'My key is [secret]. Which is yours?' });

// On the way back: the secret is neither in the answer nor in the streamed text, although no single piece contained the
// whole key.
assert.equal(text, 'The key is [secret], keep it safe.');
assert.deepEqual(
  deltas.map((delta) => (delta.type === 'text' ? delta.text : delta.type)),
  ['The key is [secret], keep it safe.'],
);

// The user's own message is unchanged: the layer changes only the model call, not the conversation.
const [input] = await careless.messages();
assert.equal(input?.data.content, 'My key is ghp_abcdefgh12345678. Which is yours?');
await careless.close();
