/** `kind: Model` — who answers, and with which settings. */
import { z } from 'zod';
import { count, jsonObject, jsonValue, reference, resource, text, valueSource } from './fields.ts';

export const modelParams = z
  .strictObject({
    temperature: z.number().optional().describe('How freely it chooses its words; 0 is least.'),
    maxTokens: count(1)
      .optional()
      .meta({ description: 'The longest reply, in tokens. When absent, what the model can.' }),
    topP: z.number().optional().describe('Chooses among the likeliest words that together have this probability.'),
    topK: z.number().optional().describe('Chooses among so many of the likeliest words.'),
    stopSequences: z.array(z.string()).optional().describe('Texts at which it stops.'),
    seed: z.int().optional().describe('The same seed gives the same reply, as far as the provider can.'),
    providerOptions: z
      .record(z.string(), jsonObject)
      .optional()
      .describe('What only one provider understands, by its name.'),
  })
  .meta({ id: 'ModelParams', description: 'Sampling settings, handed to the provider as they are.' });

const named = {
  model: text.describe("The provider's own name of the model."),
  params: modelParams.optional().describe('Settings for every call.'),
};

const options = z.strictObject({
  stream: z.boolean().optional().meta({ description: '`false`: one answer, no stream.', default: true }),
  timeouts: z
    .strictObject({
      silenceMs: z
        .number()
        .positive()
        .optional()
        .meta({ description: 'Without a byte from the provider.', default: 120_000 }),
      totalMs: z.number().positive().optional().meta({ description: 'For the whole call.', default: 600_000 }),
    })
    .optional()
    .describe('When a call is given up.'),
  systemMessages: z
    .enum(['in-place', 'front', 'joined'])
    .optional()
    .describe('Where system messages go; what the provider likes best when absent.'),
  headers: z.record(z.string(), valueSource).optional().describe('Sent with every request.'),
  providerOptions: z
    .record(z.string(), jsonObject)
    .optional()
    .describe('What only one provider understands, by its name, in every call.'),
});

const remote = {
  ...named,
  options: options.optional().describe('How the provider is called.'),
};

const hosted = z.strictObject({
  provider: z.enum(['anthropic', 'openai', 'google']).describe('Who makes the model available.'),
  ...remote,
  apiKey: valueSource.optional().describe("The key; the provider's own variable (`ANTHROPIC_API_KEY`, …) when absent."),
  endpoint: valueSource.optional().describe("The base URL; the provider's own when absent."),
});

const compatible = z.strictObject({
  provider: z.literal('openai-compatible').describe('Anything that speaks the format of OpenAI: Ollama, vLLM, …'),
  ...remote,
  apiKey: valueSource.optional().describe('The key; none is sent when absent.'),
  endpoint: valueSource.describe('The base URL.'),
});

const call = z.strictObject({
  tool: text.describe('`{resource}__{export}`.'),
  args: z
    .record(z.string(), jsonValue)
    .optional()
    .describe('Its arguments. One that is a single `{{…}}` keeps the type of what it stands for.'),
});

const failure = z.strictObject({
  message: text.describe('What the error says.'),
  retryable: z.boolean().optional().meta({ description: 'Whether the step is tried again.', default: false }),
  retryAfterMs: z.number().min(0).optional().describe('How long to wait before that.'),
  times: count(0).optional().describe('So often in one turn, then the rule is passed over; always when absent.'),
  code: z.string().optional().meta({ description: 'A code of the catalogue.', default: 'E_MODEL_FAILED' }),
});

const rule = z.strictObject({
  when: z
    .string()
    .optional()
    .describe(
      "A regular expression on the user's text, case-insensitive; its named groups can be used as `{{group}}`.",
    ),
  afterTool: text
    .optional()
    .describe('Fits when the newest message is a result of this tool. A rule with neither always fits.'),
  say: z
    .string()
    .optional()
    .describe("The answer; `{{input}}` is the newest user text, `{{result.…}}` reads the tool's output."),
  call: call.optional().describe('Calls a tool.'),
  calls: z.array(call).min(1).optional().describe('Calls several tools at once.'),
  fail: failure.optional().describe('Fails.'),
});

const scripted = z.strictObject({
  provider: z.literal('scripted').describe('Answers by rules: no key, no network.'),
  ...named,
  options: z
    .strictObject({
      script: z.array(rule).min(1).describe('Tried in order; the first that matches answers.'),
      latencyMs: z.number().min(0).optional().meta({ description: 'Before the first token.', default: 0 }),
      tokensPerSecond: z
        .number()
        .min(0)
        .optional()
        .meta({ description: 'How fast it writes; 0 is at once.', default: 0 }),
    })
    .describe('What it answers, and how fast.'),
});

const cassette = z.strictObject({
  provider: z.literal('cassette').describe('Records another model, and plays it back without a network.'),
  ...named,
  options: z
    .strictObject({
      mode: z.enum(['record', 'replay']).describe('Whether it records, or plays back.'),
      file: text.describe('The recording, inside the bundle.'),
      upstream: reference('Model').optional().describe('The model to record; needed for that only.'),
    })
    .describe('What it records, and where.'),
});

export const model = resource(
  'Model',
  'Who answers, and with which settings.',
  z.discriminatedUnion('provider', [hosted, compatible, scripted, cassette]),
);
