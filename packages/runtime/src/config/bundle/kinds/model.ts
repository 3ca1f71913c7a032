/** `kind: Model` — who answers, and with which settings. */
import { z } from 'zod';
import { count, jsonObject, jsonValue, reference, resource, text, valueSource } from './fields.ts';

export const modelParams = z
  .strictObject({
    temperature: z.number().optional(),
    maxTokens: count(1).optional(),
    topP: z.number().optional(),
    topK: z.number().optional(),
    stopSequences: z.array(z.string()).optional(),
    seed: z.int().optional(),
    providerOptions: z
      .record(z.string(), jsonObject)
      .optional()
      .describe('What only one provider understands, by provider.'),
  })
  .meta({ id: 'ModelParams', description: 'Sampling settings, handed to the provider as they are.' });

const named = {
  model: text.describe("The provider's own name of the model."),
  params: modelParams.optional(),
};

const options = z.strictObject({
  stream: z.boolean().optional().describe('false: one answer, no stream.'),
  timeouts: z
    .strictObject({
      silenceMs: z.number().positive().optional().describe('Without a byte from the provider. Default 120000.'),
      totalMs: z.number().positive().optional().describe('For the whole call. Default 600000.'),
    })
    .optional(),
  systemMessages: z.enum(['in-place', 'front', 'joined']).optional().describe('Where system messages go.'),
  headers: z.record(z.string(), valueSource).optional().describe('Sent with every request.'),
  providerOptions: z.record(z.string(), jsonObject).optional().describe('What only one provider understands.'),
});

const remote = {
  ...named,
  apiKey: valueSource.optional().describe("The key; the provider's own variable when absent."),
  options: options.optional(),
};

const endpoint = valueSource.describe('The base URL.');

const hosted = z.strictObject({
  provider: z.enum(['anthropic', 'openai', 'google']).describe('Who makes the model available.'),
  ...remote,
  endpoint: endpoint.optional(),
});

const compatible = z.strictObject({
  provider: z.literal('openai-compatible').describe('Anything that speaks the format of OpenAI: Ollama, vLLM, …'),
  ...remote,
  endpoint,
});

const call = z.strictObject({
  tool: text.describe('{resource}__{export}.'),
  args: z.record(z.string(), jsonValue).optional(),
});

const failure = z.strictObject({
  message: text,
  retryable: z.boolean().optional(),
  retryAfterMs: z.number().min(0).optional(),
  times: count(0).optional().describe('So often in one turn, then the rule is passed over.'),
  code: z.string().optional().describe('A code of the catalogue; E_MODEL_FAILED when absent.'),
});

const rule = z.strictObject({
  when: z.string().optional().describe("A regular expression on the user's text, case-insensitive."),
  afterTool: text.optional().describe('The newest message is a result of this tool.'),
  say: z.string().optional().describe('Text with {{group}}, {{input}} and {{result.…}}.'),
  call: call.optional(),
  calls: z.array(call).min(1).optional(),
  fail: failure.optional(),
});

const scripted = z.strictObject({
  provider: z.literal('scripted').describe('Answers by rules: no key, no network.'),
  ...named,
  options: z.strictObject({
    script: z.array(rule).min(1).describe('Tried in order; the first that matches answers.'),
    latencyMs: z.number().min(0).optional().describe('Before the first token.'),
    tokensPerSecond: z.number().min(0).optional().describe('0: at once.'),
  }),
});

const cassette = z.strictObject({
  provider: z.literal('cassette').describe('Records another model, and plays it back without a network.'),
  ...named,
  options: z.strictObject({
    mode: z.enum(['record', 'replay']),
    file: text.describe('The recording, inside the bundle.'),
    upstream: reference('Model').optional().describe('The model to record.'),
  }),
});

export const model = resource(
  'Model',
  'Who answers, and with which settings.',
  z.discriminatedUnion('provider', [hosted, compatible, scripted, cassette]),
);
