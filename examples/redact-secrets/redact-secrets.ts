import type { ExtensionRegister } from '@goondan/types';

/** Replaces texts that look like a secret, in everything the model reads and writes. */
export const register: ExtensionRegister = (api) => {
  api.pipeline.register(
    'model',
    async (ctx) => {
      ctx.messages = redact(ctx.messages);
      return redact(await ctx.next());
    },
    // While one layer buffers, no text is streamed before the layer has seen all of it.
    { buffers: true },
  );
};

const secrets = /\b(?:sk|ghp|xoxb)[-_][A-Za-z0-9_-]{8,}/g;

/** Messages and replies are JSON, and a secret needs no escaping there. */
function redact<Value>(value: Value): Value {
  const redacted: Value = JSON.parse(JSON.stringify(value).replaceAll(secrets, '[secret]'));
  return redacted;
}
