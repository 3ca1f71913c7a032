/** `kind: Model` — a provider, its model and the settings for it. */
import { z } from 'zod';
import { count, jsonObject, jsonValue, reference, resource, text, valueSource } from './fields.ts';

export const modelParams = z
  .strictObject({
    temperature: z.number().optional().describe('The sampling temperature; 0 is the least random.'),
    maxTokens: count(1)
      .optional()
      .meta({ description: 'The maximum length of a reply in tokens; when absent, the maximum of the model.' }),
    topP: z.number().optional().describe('Sampling is limited to the likeliest tokens with this total probability.'),
    topK: z.number().optional().describe('Sampling is limited to this many of the likeliest tokens.'),
    stopSequences: z.array(z.string()).optional().describe('Texts that end the reply.'),
    seed: z.int().optional().describe('The same seed gives the same reply, as far as the provider can.'),
    providerOptions: z
      .record(z.string(), jsonObject)
      .optional()
      .describe('Options that only one provider understands, by the name of the provider.'),
  })
  .meta({ id: 'ModelParams', description: 'Sampling settings, passed to the provider unchanged.' });

const named = {
  model: text.describe('The name of the model at the provider.'),
  params: modelParams.optional().describe('Settings for every call.'),
};

const options = z.strictObject({
  stream: z
    .boolean()
    .optional()
    .meta({ description: '`false`: the whole answer at once instead of a stream.', default: true }),
  timeouts: z
    .strictObject({
      silenceMs: z
        .number()
        .positive()
        .optional()
        .meta({ description: 'The maximum time without a byte from the provider.', default: 120_000 }),
      totalMs: z
        .number()
        .positive()
        .optional()
        .meta({ description: 'The maximum time for the whole call.', default: 600_000 }),
    })
    .optional()
    .describe('Time limits of a call.'),
  systemMessages: z
    .enum(['in-place', 'front', 'joined'])
    .optional()
    .describe('The position of system messages in the request; when absent, the best position for the provider.'),
  headers: z.record(z.string(), valueSource).optional().describe('Headers for every request.'),
  providerOptions: z
    .record(z.string(), jsonObject)
    .optional()
    .describe('Options that only one provider understands, by the name of the provider, for every call.'),
});

const remote = {
  ...named,
  options: options.optional().describe('Options for calls to the provider.'),
};

const hosted = z.strictObject({
  provider: z.enum(['anthropic', 'openai', 'google']).describe('The provider of the model.'),
  ...remote,
  apiKey: valueSource.optional().describe("The key; the provider's own variable (`ANTHROPIC_API_KEY`, …) when absent."),
  endpoint: valueSource.optional().describe("The base URL; when absent, the provider's own URL."),
});

const compatible = z.strictObject({
  provider: z.literal('openai-compatible').describe('Any server with an OpenAI-compatible API: Ollama, vLLM, …'),
  ...remote,
  apiKey: valueSource.optional().describe('The API key; when absent, no key is sent.'),
  endpoint: valueSource.describe('The base URL.'),
});

const call = z.strictObject({
  tool: text.describe('`{resource}__{export}`.'),
  args: z
    .record(z.string(), jsonValue)
    .optional()
    .describe('The arguments. A value that is a single `{{…}}` keeps the type of the value it stands for.'),
});

const failure = z.strictObject({
  message: text.describe('The message of the error.'),
  retryable: z.boolean().optional().meta({ description: 'Whether the step is retried.', default: false }),
  retryAfterMs: z.number().min(0).optional().describe('The delay before the retry.'),
  times: count(0)
    .optional()
    .describe('The number of uses in one turn after which the rule is skipped; unlimited when absent.'),
  code: z.string().optional().meta({ description: 'An error code of the catalogue.', default: 'E_MODEL_FAILED' }),
});

const rule = z.strictObject({
  when: z
    .string()
    .optional()
    .describe(
      "A case-insensitive regular expression for the user's text; its named groups can be used as `{{group}}`.",
    ),
  afterTool: text
    .optional()
    .describe(
      'Matches when the newest message is a result of this tool. A rule without `when` and `afterTool` always ' +
        'matches.',
    ),
  say: z
    .string()
    .optional()
    .describe("The answer; `{{input}}` is the newest user text, `{{result.…}}` reads the tool's output."),
  call: call.optional().describe('Calls a tool.'),
  calls: z.array(call).min(1).optional().describe('Calls several tools at once.'),
  fail: failure.optional().describe('Fails.'),
});

const scripted = z.strictObject({
  provider: z.literal('scripted').describe('A model that answers by rules: no key, no network.'),
  ...named,
  options: z
    .strictObject({
      script: z.array(rule).min(1).describe('The rules, tried in order; the first rule that matches answers.'),
      latencyMs: z.number().min(0).optional().meta({ description: 'The delay before the first token.', default: 0 }),
      tokensPerSecond: z.number().min(0).optional().meta({
        description: 'The speed of the answer, in tokens per second; 0 sends the whole answer at once.',
        default: 0,
      }),
    })
    .describe('The answers and their speed.'),
});

const cassette = z.strictObject({
  provider: z
    .literal('cassette')
    .describe('A model that records another model, and plays the recording back without a network.'),
  ...named,
  options: z
    .strictObject({
      mode: z.enum(['record', 'replay']).describe('Record, or play back.'),
      file: text.describe('The file of the recording, inside the bundle.'),
      upstream: reference('Model').optional().describe('The model to record; needed only for recording.'),
    })
    .describe('The recording and its mode.'),
});

export const model = resource(
  'Model',
  'A model of a provider, with its settings.',
  z.discriminatedUnion('provider', [hosted, compatible, scripted, cassette]),
);
