import { describe, expect, test } from 'bun:test';
import type { GoondanError, JsonObject } from '@goondan/types';
import { systemClock } from '../../../ports/clock.ts';
import type { ModelSpec } from '../../../config/model-spec.ts';
import { openModel } from '../../model-call/open-model.ts';
import { ask, failureOf } from './wire/ask-model.ts';
import { anthropicCase, compatibleCase, providerCases, type ProviderCase } from './wire/provider-cases.ts';
import { startWireServer } from './wire/wire-server.ts';

type Environment = Record<string, string>;

const open = (spec: ModelSpec, environment: Environment = {}) =>
  openModel('Model/tested', spec, { clock: systemClock, environment, folder: '.' });

const keyed = providerCases.filter(([name]) => name !== 'openai-compatible');
const variables: Record<string, [key: string, endpoint: string]> = {
  anthropic: ['ANTHROPIC_API_KEY', 'ANTHROPIC_BASE_URL'],
  google: ['GOOGLE_GENERATIVE_AI_API_KEY', 'GOOGLE_GENERATIVE_AI_BASE_URL'],
  openai: ['OPENAI_API_KEY', 'OPENAI_BASE_URL'],
};

/** Calls the model once and returns the request that the server received. */
async function requestOf(provider: ProviderCase, spec: Partial<ModelSpec>, environment: (url: string) => Environment) {
  await using server = startWireServer(provider.dialect);
  server.answer({ reply: { text: ['Hi'], usage: { input: 1, output: 1, cached: 0 } } });
  const model = await open({ provider: provider.provider, model: provider.model, ...spec }, environment(server.url));
  await ask(model, [{ role: 'user', content: 'Hi' }]);
  return server.requests[0];
}

describe.each(keyed)('%s', (name, provider) => {
  const [keyVariable = '', endpointVariable = ''] = variables[name] ?? [];
  const [header, value] = provider.keyHeader;

  test.each([{}, { [keyVariable]: '' }, { [keyVariable]: ' \n' }])(
    'a missing key fails the start, and the error names its variable (%p)',
    async (environment) => {
      const error = await failureOf(open({ provider: name, model: 'x' }, environment));
      expect(error).toMatchObject({ code: 'E_MODEL_KEY' });
      expect(String(error)).toContain(keyVariable);
      expect((error as GoondanError).suggestion).toContain(keyVariable);
    },
  );

  test('key and endpoint come from the environment, also an endpoint that is only a host', async () => {
    const request = await requestOf(provider, {}, (url) => ({
      [keyVariable]: 'from-environment\n',
      [endpointVariable]: url,
    }));
    expect(request?.headers.get(header)).toBe(value('from-environment'));
    expect(request?.path).toBe(provider.path);
  });

  test('a path in the endpoint is kept', async () => {
    const request = await requestOf(provider, {}, (url) => ({
      [keyVariable]: 'k',
      [endpointVariable]: `${url}/proxy/`,
    }));
    expect(request?.path).toStartWith('/proxy/');
    expect(request?.path).not.toContain('/proxy/v1');
  });

  test('the Model’s own key and endpoint override the environment', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: { text: ['Hi'], usage: { input: 1, output: 1, cached: 0 } } });
    const environment = { [keyVariable]: 'wrong', [endpointVariable]: 'http://127.0.0.1:9' };
    const model = await open(
      { provider: name, model: provider.model, apiKey: 'own', endpoint: server.url },
      environment,
    );
    await ask(model, [{ role: 'user', content: 'Hi' }]);
    expect(server.requests[0]?.headers.get(header)).toBe(value('own'));
  });

  test.each([
    ['read here', {}],
    // An agent process has no environment, so its plan has the key.
    ['read by the orchestrator', { apiKey: 'k', keyVariable }],
  ])('a refused key from the environment is reported by its variable: %s', async (_, key) => {
    await using server = startWireServer(provider.dialect);
    server.answer({ status: 401, body: JSON.stringify(provider.dialect.error(401, provider.errorTypes.auth, 'No.')) });
    const model = await open(
      { provider: name, model: provider.model, ...key },
      { [keyVariable]: 'k', [endpointVariable]: server.url },
    );
    const error = await failureOf(ask(model, [{ role: 'user', content: 'Hi' }]));
    expect(error).toMatchObject({ code: 'E_MODEL_AUTH', suggestion: expect.stringContaining(keyVariable) });
    expect(String(error)).toContain(provider.keySource);
  });
});

describe('openai-compatible', () => {
  const spec = { provider: 'openai-compatible', model: 'local' };
  const provider = compatibleCase;

  test('needs an endpoint', async () => {
    const error = await failureOf(open(spec, { OPENAI_BASE_URL: 'http://127.0.0.1:9' }));
    expect(error).toMatchObject({ code: 'E_RESOURCE_INVALID', suggestion: expect.stringContaining('endpoint') });
  });

  test('needs no key, and never sends OpenAI’s key: the endpoint is not OpenAI’s', async () => {
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: { text: ['Hi'], usage: { input: 1, output: 1, cached: 0 } } });
    const model = await open({ ...spec, endpoint: `${server.url}/v1/` }, { OPENAI_API_KEY: 'secret' });
    await ask(model, [{ role: 'user', content: 'Hi' }]);
    expect(server.requests[0]?.headers.get('authorization')).toBeNull();
    expect(server.requests[0]?.path).toBe('/v1/chat/completions');
    expect(server.requests[0]?.body).toMatchObject({ stream_options: { include_usage: true } });
  });
});

describe('the settings of a Model', () => {
  const spec = { provider: 'anthropic', model: 'x', apiKey: 'k' };

  test('an unknown provider is refused, and the error lists the known ones', async () => {
    const error = await failureOf(open({ provider: 'opnai', model: 'x' }));
    expect(error).toMatchObject({
      code: 'E_MODEL_UNKNOWN',
      message:
        'Model/tested: there is no provider "opnai". Known: anthropic, cassette, google, openai, openai-compatible, scripted.',
    });
    expect(await failureOf(open({ provider: 'toString', model: 'x' }))).toMatchObject({ code: 'E_MODEL_UNKNOWN' });
  });

  test.each(['localhost:8080', 'ftp://x.example', 'nonsense', ''])('endpoint %p is refused', async (endpoint) => {
    expect(await failureOf(open({ ...spec, endpoint }))).toMatchObject({ code: 'E_RESOURCE_INVALID' });
  });

  test.each<[string, JsonObject]>([
    ['options.strem', { strem: false }],
    ['options.stream', { stream: 'no' }],
    ['options.timeouts', { timeouts: 5 }],
    ['options.timeouts.silenceMs', { timeouts: { silenceMs: 0 } }],
    ['options.timeouts.total', { timeouts: { total: 5 } }],
    ['options.headers', { headers: { a: 1 } }],
    ['options.systemMessages', { systemMessages: 'last' }],
    ['options.providerOptions', { providerOptions: { anthropic: 1 } }],
  ])('%s is checked at start', async (path, options) => {
    const error = await failureOf(open({ ...spec, options }));
    expect(error).toMatchObject({ code: 'E_RESOURCE_INVALID' });
    expect(String(error)).toContain(path);
  });

  test('headers, params and options reach the provider; those of the request win', async () => {
    const provider = anthropicCase;
    await using server = startWireServer(provider.dialect);
    server.answer({ reply: { text: ['Hi'], usage: { input: 1, output: 1, cached: 0 } } });
    const model = await open({
      ...spec,
      model: provider.model,
      endpoint: server.url,
      params: { temperature: 0.1, topK: 7, maxTokens: 99 },
      options: {
        headers: { 'x-team': 'blue' },
        providerOptions: { anthropic: { metadata: { userId: 'u' } } },
        systemMessages: 'in-place',
      },
    });
    const messages = [
      { role: 'system' as const, content: 'One.' },
      { role: 'user' as const, content: 'Hi' },
      { role: 'system' as const, content: 'Two.' },
    ];
    await ask(model, messages, {
      params: { temperature: 0.9, providerOptions: { anthropic: { sendReasoning: true } } },
    });
    const [request] = server.requests;
    expect(request?.headers.get('x-team')).toBe('blue');
    expect(request?.body).toMatchObject({ temperature: 0.9, top_k: 7, max_tokens: 99, metadata: { user_id: 'u' } });
    expect(provider.messages(request?.body ?? {})).toMatchObject([{ role: 'user' }, { role: 'system' }]);
  });
});
