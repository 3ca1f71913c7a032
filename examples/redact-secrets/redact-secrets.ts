import type { ExtensionRegister } from '@goondan/types';

/** Replaces texts that look like a secret, in everything the model reads and writes. */
export const register: ExtensionRegister = (api) => {
  api.pipeline.register(
    'model',
    async (ctx) => {
      ctx.messages = redact(ctx.messages);
      return redact(await ctx.next());
    },
    // While a layer buffers, no text is streamed before the layer has seen the whole text.
    { buffers: true },
  );
};

const secrets = /\b(?:sk|ghp|xoxb)[-_][A-Za-z0-9_-]{8,}/g;

/** Replaces secrets in messages and replies. Both are JSON, in which these secrets have no escaped characters. */
function redact<Value>(value: Value): Value {
  const redacted: Value = JSON.parse(JSON.stringify(value).replaceAll(secrets, '[secret]'));
  return redacted;
}
