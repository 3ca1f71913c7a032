/** `kind: Model` — a provider, its model and the settings for it. */
import { modelFailures } from '@goondan/types';
import { z } from 'zod';
import { count, jsonObject, jsonValue, optional, reference, resource, text, valueSource } from './fields.ts';

export const modelParams = z
  .strictObject({
    temperature: optional(z.number(), 'The sampling temperature; 0 is the least random.'),
    maxTokens: optional(count(1), 'The maximum length of a reply in tokens; when absent, the maximum of the model.'),
    topP: optional(z.number(), 'Sampling is limited to the likeliest tokens with this total probability.'),
    topK: optional(z.number(), 'Sampling is limited to this many of the likeliest tokens.'),
    stopSequences: optional(z.array(z.string()), 'Texts that end the reply.'),
    seed: optional(z.int(), 'The same seed gives the same reply, as far as the provider can.'),
    providerOptions: optional(
      z.record(z.string(), jsonObject),
      'Options that only one provider understands, by the name of the provider.',
    ),
  })
  .meta({ id: 'ModelParams', description: 'Sampling settings, passed to the provider unchanged.' });

const limits = z
  .strictObject({
    requestsPerMinute: optional(count(1), 'The maximum number of calls in a minute.'),
    tokensPerMinute: optional(count(1), 'The maximum number of input and output tokens in a minute.'),
    concurrent: optional(count(1), 'The maximum number of calls at the same time.'),
  })
  .meta({
    id: 'ModelLimits',
    description: 'Limits of all calls of this model, by all agents, processes and nodes. A call above them waits.',
  });

const named = {
  model: text.describe('The name of the model at the provider.'),
  params: optional(modelParams, 'Settings for every call.'),
  limits: optional(limits, 'Limits of all calls; none when absent.'),
};

const options = z.strictObject({
  stream: optional(z.boolean(), '`false`: the whole answer at once instead of a stream.', true),
  cache: optional(
    z.boolean(),
    '`false`: sets no marks for the cache of the provider. Only `anthropic` needs such marks.',
    true,
  ),
  timeouts: z
    .strictObject({
      silenceMs: optional(z.number().positive(), 'The maximum time without a byte from the provider.', 120_000),
      totalMs: optional(z.number().positive(), 'The maximum time for the whole call.', 600_000),
    })
    .optional()
    .describe('Time limits of a call.'),
  systemMessages: optional(
    z.enum(['in-place', 'front', 'joined']),
    'The position of system messages in the request; when absent, the best position for the provider.',
  ),
  schemaMode: optional(
    z.enum(['native', 'tool']),
    'How the model gets the schema of an answer (`output`): `native` is the mode of the provider for JSON Schemas, `tool` ' +
      'the tool `output__finish`. When absent, `native` where the provider is known to have it for the model.',
  ),
  headers: optional(z.record(z.string(), valueSource), 'Headers for every request.'),
  providerOptions: optional(
    z.record(z.string(), jsonObject),
    'Options that only one provider understands, by the name of the provider, for every call.',
  ),
});

const remote = {
  ...named,
  options: optional(options, 'Options for calls to the provider.'),
};

const hosted = z.strictObject({
  provider: z.enum(['anthropic', 'openai', 'google']).describe('The provider of the model.'),
  ...remote,
  apiKey: optional(valueSource, "The key; the provider's own variable (`ANTHROPIC_API_KEY`, …) when absent."),
  endpoint: optional(valueSource, "The base URL; when absent, the provider's own URL."),
});

const compatible = z.strictObject({
  provider: z.literal('openai-compatible').describe('Any server with an OpenAI-compatible API: Ollama, vLLM, …'),
  ...remote,
  apiKey: optional(valueSource, 'The API key; when absent, no key is sent.'),
  endpoint: valueSource.describe('The base URL.'),
});

const call = z.strictObject({
  tool: text.describe('`{resource}__{export}`.'),
  args: optional(
    z.record(z.string(), jsonValue),
    'The arguments. A value that is a single `{{…}}` keeps the type of the value it stands for.',
  ),
});

const failure = z.strictObject({
  message: text.describe('The message of the error.'),
  retryable: optional(z.boolean(), 'Whether the step is retried.', false),
  retryAfterMs: optional(z.number().min(0), 'The delay before the retry.'),
  failure: optional(z.enum(modelFailures), "The kind of failure, as a provider's model reports it."),
  times: optional(count(0), 'The number of uses in one turn after which the rule is skipped; unlimited when absent.'),
  code: optional(z.string(), 'An error code of the catalogue.', 'E_MODEL_FAILED'),
});

const rule = z.strictObject({
  when: optional(
    z.string(),
    "A case-insensitive regular expression for the user's text; its named groups can be used as `{{group}}`.",
  ),
  afterTool: optional(
    text,
    'Matches when the newest message is a result of this tool. A rule without `when` and `afterTool` always ' +
      'matches.',
  ),
  say: optional(
    z.string(),
    "The answer; `{{input}}` is the newest user text, `{{files}}` its images and files, `{{result.…}}` the tool's output.",
  ),
  call: optional(call, 'Calls a tool.'),
  calls: optional(z.array(call).min(1), 'Calls several tools at once.'),
  fail: optional(failure, 'Fails.'),
});

const scripted = z.strictObject({
  provider: z.literal('scripted').describe('A model that answers by rules: no key, no network.'),
  ...named,
  options: z
    .strictObject({
      script: z.array(rule).min(1).describe('The rules, tried in order; the first rule that matches answers.'),
      latencyMs: optional(z.number().min(0), 'The delay before the first token.', 0),
      tokensPerSecond: optional(
        z.number().min(0),
        'The speed of the answer, in tokens per second; 0 sends the whole answer at once.',
        0,
      ),
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
      upstream: optional(reference('Model'), 'The model to record; needed only for recording.'),
    })
    .describe('The recording and its mode.'),
});

/** The settings of a model: `spec` of a Model, or `spec.model` of an Agent. */
export const modelSpec = z
  .discriminatedUnion('provider', [hosted, compatible, scripted, cassette])
  .meta({ id: 'ModelSpec', description: 'A model of a provider, with its settings.' });

export const model = resource('Model', 'A model of a provider, with its settings.', modelSpec);
