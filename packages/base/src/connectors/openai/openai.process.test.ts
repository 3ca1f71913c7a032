// Tests the official OpenAI client over real HTTP. The test acts as the swarm, except in the last part, which runs the
// example in real processes.
import { describe, expect, setDefaultTimeout, test } from 'bun:test';
import { type AskSwarm, type ConnectorAskOptions, GoondanError, type TurnDelta } from '@goondan/types';
import OpenAI, { APIError, AuthenticationError, BadRequestError, NotFoundError, RateLimitError } from 'openai';
import {
  acceptance,
  answerOf,
  type RunningConnector,
  runConnector,
  type RunOptions,
} from '../../testing/run-connector.ts';
import { type RunningExample, startExample } from '../../testing/start-example.ts';
import type { OpenaiConfig } from './openai-config.ts';
import openai from './openai.ts';
import { stopAfterEach } from '../../testing/stop-after-each.ts';

setDefaultTimeout(60_000);

const token = 'a-token-of-a-chat-1';
const stopLater = stopAfterEach();

type Opened = RunningConnector & { readonly client: OpenAI };

async function open(options: Partial<RunOptions<Partial<OpenaiConfig>>> = {}): Promise<Opened> {
  const { config, ...over } = options;
  const connector = stopLater(
    await runConnector(openai, {
      config: { port: 0, ...config },
      secrets: { token },
      agents: ['porter', 'gardener'],
      ...over,
    }),
  );
  return Object.assign(connector, { client: clientFor(connector.url) });
}

function clientFor(url: string, apiKey = token, headers: Record<string, string> = {}): OpenAI {
  return new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0, defaultHeaders: headers });
}

const say = (content: string) => ({ role: 'user', content }) as const;
const said = (content: string) => ({ role: 'assistant', content }) as const;
const failure = (work: Promise<unknown>) => work.catch((error: unknown) => error);
const delta = (text: string, step = 0): TurnDelta => ({
  type: 'text',
  text,
  turnId: 't',
  stepId: `s${step}`,
  stepIndex: step,
});

/** Creates a fake swarm whose turn has one step per text. The last text is the answer. */
function speaks(...texts: string[]): AskSwarm {
  return async (_event, options) => {
    options?.onAccepted?.(acceptance);
    for (const [step, text] of texts.entries())
      for (const piece of text.split(/(?<= )/)) options?.onDelta?.(delta(piece, step));
    return answerOf(texts.at(-1) ?? '');
  };
}

describe('the models', () => {
  test('are the agents', async () => {
    const { client } = await open();
    const models = await client.models.list();
    expect(models.data.map(({ id, object, owned_by }) => [id, object, owned_by])).toEqual([
      ['porter', 'model', 'goondan'],
      ['gardener', 'model', 'goondan'],
    ]);
    expect((await client.models.retrieve('porter')).id).toBe('porter');
    expect((await client.models.retrieve('goondan/porter')).id).toBe('porter');
    expect(await failure(client.models.retrieve('gpt-5'))).toBeInstanceOf(NotFoundError);
  });
});

describe('a completion', () => {
  test('is the answer of the agent, with its usage', async () => {
    const { client, events } = await open();
    const answer = await client.chat.completions.create({ model: 'porter', messages: [say('Hello!')] });
    expect(answer).toEqual({
      id: 'chatcmpl-turn-1',
      object: 'chat.completion',
      created: expect.any(Number),
      model: 'porter',
      choices: [
        {
          index: 0,
          message: { role: 'assistant', content: 'You said: Hello!', refusal: null },
          logprobs: null,
          finish_reason: 'stop',
        },
      ],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    });
    expect(events).toEqual([
      {
        name: 'chat',
        input: 'Hello!',
        properties: { agent: 'porter', conversation: expect.stringMatching(/^chat-[0-9a-f-]{36}$/) },
        auth: { client: 'default' },
      },
    ]);
  });

  test('comes from the agent that the client names as its model', async () => {
    const { client, events } = await open();
    await client.chat.completions.create({ model: 'gardener', messages: [say('Hello!')] });
    expect(events).toMatchObject([{ properties: { agent: 'gardener' } }]);
  });

  test('R-08 belongs to the trace of its header, under the span of the client', async () => {
    const { url, events } = await open();
    const [traceId, parentSpanId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    const client = clientFor(url, token, { traceparent: `00-${traceId}-${parentSpanId}-01` });
    await client.chat.completions.create({ model: 'porter', messages: [say('Hello!')] });
    expect(events[0]).toMatchObject({ traceId, parentSpanId });
  });

  test('is streamed when the client asks for it', async () => {
    const { client } = await open({ ask: speaks('I will look.', 'It is warm.') });
    const stream = await client.chat.completions.create({
      model: 'goondan/porter',
      messages: [say('How warm?')],
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(new Set(chunks.map(({ id, object, model }) => `${id} ${object} ${model}`))).toEqual(
      new Set(['chatcmpl-turn-1 chat.completion.chunk goondan/porter']),
    );
    expect(chunks[0]?.choices[0]?.delta).toEqual({ role: 'assistant', content: '' });
    expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).toBe('I will look.\n\nIt is warm.');
    expect(chunks.length).toBeGreaterThan(6);
    expect(chunks.at(-2)?.choices[0]?.finish_reason).toBe('stop');
    expect(chunks.at(-1)).toMatchObject({
      choices: [],
      usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 },
    });
    expect(chunks.slice(0, -1).every(({ usage }) => usage === null)).toBe(true);
  });

  test('is streamed for the client’s helper, without usage unless requested', async () => {
    const { client, url } = await open({ ask: speaks('It is warm.') });
    const stream = client.chat.completions.stream({ model: 'porter', messages: [say('How warm?')] });
    expect(await stream.finalContent()).toBe('It is warm.');
    const raw = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: 'porter', messages: [say('How warm?')], stream: true }),
    });
    const text = await raw.text();
    expect(text).toEndWith('data: [DONE]\n\n');
    expect(text).not.toContain('usage');
  });

  test('is complete, even when a layer of the agent held it back, or a piece was lost', async () => {
    for (const pieces of [[], ['It is ']]) {
      const { client } = await open({
        ask: async (_event, options) => {
          options?.onAccepted?.(acceptance);
          for (const piece of pieces) options?.onDelta?.(delta(piece));
          return answerOf('It is warm.');
        },
      });
      const stream = client.chat.completions.stream({ model: 'porter', messages: [say('How warm?')] });
      expect(await stream.finalContent()).toBe('It is warm.');
    }
  });

  test('with a limit of steps reached says so', async () => {
    const { client } = await open({ ask: async () => answerOf('So far', { finishReason: 'max_steps' }) });
    const answer = await client.chat.completions.create({ model: 'porter', messages: [say('Go!')] });
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'So far' } });
  });

  test('with a limit of tokens reached says so, complete and streamed', async () => {
    const { client } = await open({
      ask: async (_event, options) => {
        options?.onAccepted?.(acceptance);
        return answerOf('Once upon', { truncated: true });
      },
    });
    const asked = { model: 'porter', messages: [say('A story!')] };
    const answer = await client.chat.completions.create(asked);
    expect(answer.choices[0]).toMatchObject({ finish_reason: 'length', message: { content: 'Once upon' } });
    const reasons: (string | null | undefined)[] = [];
    const stream = await client.chat.completions.create({ ...asked, stream: true });
    for await (const { choices } of stream) reasons.push(choices[0]?.finish_reason);
    expect(reasons.filter((reason) => reason !== null)).toEqual(['length']);
  });

  test('ignores the settings of the client, and names them', async () => {
    const { client } = await open();
    const { data, response } = await client.chat.completions
      .create({
        model: 'porter',
        messages: [say('Hello!')],
        temperature: 2,
        max_completion_tokens: 1,
        tools: [{ type: 'function', function: { name: 'f', parameters: {} } }],
        metadata: { a: 'b' },
      })
      .withResponse();
    expect(data.choices[0]?.message.tool_calls).toBeUndefined();
    expect(response.headers.get('x-goondan-ignored')).toBe('temperature, max_completion_tokens, tools');
    expect(response.headers.get('x-goondan-instance')).toBe('default');
  });
});

describe('a client that sends the whole transcript each time', () => {
  test('continues one conversation, and nothing is repeated', async () => {
    const { client, events } = await open({
      ask: async ({ input = '' }, options) => {
        options?.onAccepted?.(acceptance);
        for (const piece of `Re: ${input}`.match(/.{1,3}/gs) ?? []) options?.onDelta?.(delta(piece));
        return answerOf(`Re: ${input}`);
      },
    });
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'system', content: 'Be kind.' }];
    for (const [turn, content] of ['one', 'two', 'three', 'four'].entries()) {
      messages.push(say(content));
      const isStream = turn % 2 === 1;
      const answer = isStream
        ? await client.chat.completions.stream({ model: 'porter', messages }).finalContent()
        : (await client.chat.completions.create({ model: 'porter', messages })).choices[0]?.message.content;
      messages.push(said(answer ?? ''));
    }
    expect(events.map(({ input }) => input)).toEqual(['one', 'two', 'three', 'four']);
    expect(new Set(events.map(({ properties }) => properties?.conversation)).size).toBe(1);
    // An edited message begins another conversation, which gets the earlier transcript.
    await client.chat.completions.create({ model: 'porter', messages: [...messages.slice(0, 3), say('edited')] });
    expect(events.at(-1)?.input).toBe(
      'Earlier in this conversation:\n\nUser: one\n\nAssistant: Re: one\n\nThe new message:\n\nedited',
    );
    expect(events.at(-1)?.properties?.conversation).not.toBe(events[0]?.properties?.conversation);
  });

  test('may name its conversation, and its user', async () => {
    const { url, events } = await open({ config: { conversationHeader: 'X-Thread' } });
    const client = clientFor(url, token, { 'X-Thread': 'thread-7' });
    const ask = (messages: OpenAI.ChatCompletionMessageParam[]) =>
      client.chat.completions.create({ model: 'porter', messages, user: 'kim' });
    await ask([say('zero'), said('0'), say('one')]);
    await ask([say('whatever'), say('two')]);
    expect(events.map(({ properties }) => properties)).toEqual([
      { agent: 'porter', conversation: 'thread-7', user: 'kim' },
      { agent: 'porter', conversation: 'thread-7', user: 'kim' },
    ]);
    expect(events.map(({ input }) => input?.split('\n').at(-1))).toEqual(['one', 'two']);
    expect(events[0]?.input).toContain('User: zero');
  });

  test('and repeats a message gets the same event, and another one after a failed turn', async () => {
    let failures = 1;
    const { client, events } = await open({
      ask: async ({ input = '' }, options) => {
        options?.onAccepted?.(acceptance);
        if (input === 'two' && failures-- > 0) return answerOf('', { finishReason: 'error', error: { message: 'no' } });
        return answerOf(`Re: ${input}`);
      },
    });
    const ask = (...messages: OpenAI.ChatCompletionMessageParam[]) =>
      client.chat.completions.create({ model: 'porter', messages });
    await ask(say('one'));
    const two = [say('one'), said('Re: one'), say('two')];
    expect(await failure(ask(...two))).toBeInstanceOf(APIError);
    await ask(...two);
    const [, failed, again] = events;
    expect(again?.properties).toEqual(failed?.properties);
    expect(failed?.id).toBeDefined();
    expect(again?.id).not.toBe(failed?.id);
  });

  test('gets errors in the form it knows', async () => {
    const { client, url, events } = await open();
    const ask = (over: object, who = client) =>
      failure(who.chat.completions.create({ model: 'porter', messages: [say('a')], ...over }));
    const wrongKey = await ask({}, clientFor(url, 'wrong-wrong-wrong-wrong'));
    expect(wrongKey).toBeInstanceOf(AuthenticationError);
    expect(wrongKey).toMatchObject({ status: 401, code: 'invalid_api_key', type: 'authentication_error' });
    const noModel = await ask({ model: 'gpt-5' });
    expect(noModel).toBeInstanceOf(NotFoundError);
    expect(noModel).toMatchObject({
      code: 'model_not_found',
      message: expect.stringContaining('There are: porter, gardener.'),
    });
    for (const over of [
      { messages: [] },
      { messages: [said('a')] },
      { messages: [{ role: 'tool', content: 'a', tool_call_id: '1' }] },
      { messages: [{ role: 'wizard', content: 'a' }, say('a')] },
      { messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'blob:sha256-0' } }] }] },
      { messages: [{ role: 'user', content: [{ type: 'video_url', video_url: { url: 'data:,' } }] }] },
      { messages: [{ role: 'user', content: [{ type: 'input_audio', input_audio: { data: 'AAAA', format: 'x' } }] }] },
      { messages: [{ role: 'user', content: [{ type: 'file', file: { file_id: 'file-1' } }] }] },
      { messages: 'a' },
      { n: 2 },
      { stream: 'yes' },
      { response_format: { type: 'xml' } },
      { response_format: { type: 'json_schema' } },
      { response_format: 'json' },
      { model: 7 },
    ]) {
      expect(await ask(over), JSON.stringify(over)).toBeInstanceOf(BadRequestError);
    }
    expect(await failure(client.embeddings.create({ model: 'porter', input: 'a' }))).toBeInstanceOf(NotFoundError);
    expect(events).toEqual([]);
    const parts = [{ type: 'text', text: 'Hel' } as const, { type: 'text', text: 'lo' } as const];
    await client.chat.completions.create({ model: 'porter', messages: [{ role: 'user', content: parts }] });
    expect(events[0]?.input).toBe('Hello');
  });

  test('gets an error when the agent is busy or its turn fails, streaming or not', async () => {
    const full = await open({
      ask: async () => {
        throw new GoondanError('E_INBOX_FULL', 'full', { retryable: true });
      },
    });
    const fails = await open({
      ask: async (_event, options) => {
        options?.onAccepted?.(acceptance);
        options?.onDelta?.(delta('Well, '));
        return answerOf('', { finishReason: 'error', error: { message: 'overloaded', code: 'E_MODEL_FAILED' } });
      },
    });
    for (const stream of [false, true]) {
      const ask = async ({ client }: Opened) => {
        const answer = await client.chat.completions.create({ model: 'porter', messages: [say('a')], stream });
        if ('choices' in answer) return;
        for await (const _ of answer);
      };
      expect(await failure(ask(full))).toBeInstanceOf(RateLimitError);
      expect(await failure(ask(fails))).toMatchObject({
        message: expect.stringContaining('overloaded'),
        code: 'E_MODEL_FAILED',
      });
    }
  });
});

describe('a client that demands JSON', () => {
  const schema = { type: 'object', properties: { tempC: { type: 'number' } }, required: ['tempC'] };
  const format = { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema } } as const;
  /** The swarm writes its answer around the JSON, and its text in pieces. */
  const answers: AskSwarm = async (_event, options) => {
    options?.onAccepted?.(acceptance);
    options?.onDelta?.(delta('I will look.'));
    options?.onDelta?.(delta('```json\n{"tempC": 21}\n```', 1));
    return answerOf('```json\n{"tempC": 21}\n```', { output: { tempC: 21 } });
  };

  test.each([false, true])('Y-01 gets only JSON, and the swarm gets its schema (stream: %p)', async (stream) => {
    const { client, events } = await open({ ask: answers });
    const asked = { model: 'porter', messages: [say('How warm?')], response_format: format };
    const content = stream
      ? await client.chat.completions.stream(asked).finalContent()
      : (await client.chat.completions.create(asked)).choices[0]?.message.content;
    expect(JSON.parse(content ?? '')).toEqual({ tempC: 21 });
    expect(events[0]?.output).toEqual({ schema });
  });

  test('Y-01 may demand any object, or a text', async () => {
    const { client, events } = await open();
    for (const type of ['json_object', 'text'] as const) {
      await client.chat.completions.create({ model: 'porter', messages: [say('a')], response_format: { type } });
    }
    expect(events.map(({ output }) => output)).toEqual([{ schema: { type: 'object' } }, undefined]);
  });
});

describe('a client that leaves', () => {
  test.each([
    [true, true],
    [true, false],
    [false, true],
  ])('streaming %p: the turn is cancelled, unless configured otherwise: %p', async (stream, cancelOnDisconnect) => {
    const asked = Promise.withResolvers<ConnectorAskOptions | undefined>();
    const left = Promise.withResolvers<void>();
    const { client } = await open({
      ...(cancelOnDisconnect ? {} : { config: { cancelOnDisconnect } }),
      ask: (_event, options) => {
        options?.onAccepted?.(acceptance);
        asked.resolve(options);
        return new Promise((_, reject) => {
          options?.signal?.addEventListener('abort', () => {
            left.resolve();
            reject(options.signal?.reason);
          });
        });
      },
    });
    const leaving = new AbortController();
    const answer = client.chat.completions
      .create({ model: 'porter', messages: [say('a')], stream }, { signal: leaving.signal })
      .then(async (each) => {
        if (!('choices' in each)) for await (const _ of each);
      });
    const options = await asked.promise;
    leaving.abort();
    await failure(answer);
    await left.promise;
    expect(options?.cancelOnAbort).toBe(cancelOnDisconnect);
  });
});

test('without a token it refuses to start', async () => {
  const start = runConnector(openai, { config: { port: 0 } });
  expect(await failure(start)).toMatchObject({ code: 'E_CONNECTOR_CONFIG' });
});

describe('the example, in real processes', () => {
  async function openExample(
    more: (yaml: string) => string = (yaml) => yaml,
  ): Promise<RunningExample & { client: OpenAI }> {
    const change = (yaml: string) => more(yaml.replace(/port: \d+/, 'port: 0'));
    const example = stopLater(await startExample('openai', { environment: { CHAT_TOKEN: token }, change }));
    const [, url = ''] = await example.logged(/^Listening on (\S+)\/$/);
    return Object.assign(example, { client: clientFor(url) });
  }

  test('a chat with tool calls, streaming and not, is one conversation with everything once', async () => {
    const { client, swarm, messages: kept } = await openExample();
    expect((await client.models.list()).data.map(({ id }) => id)).toEqual(['porter', 'gardener']);
    const tools: unknown[] = [];
    await swarm.watch({ types: ['runtime.event'] }, (notice) => {
      if (notice.type === 'runtime.event' && notice.name === 'tool.completed') tools.push(notice.payload.toolName);
    });
    const messages: OpenAI.ChatCompletionMessageParam[] = [say('How warm is the kitchen?')];
    const first = await client.chat.completions.create({ model: 'porter', messages });
    expect(first.choices[0]?.message).toMatchObject({ content: 'It is 21 degrees in the kitchen.' });
    expect(first.choices[0]?.message.tool_calls).toBeUndefined();
    expect(first.usage?.total_tokens).toBeGreaterThan(0);

    messages.push(said(first.choices[0]?.message.content ?? ''), say('And how warm is the cellar?'));
    const stream = await client.chat.completions.create({
      model: 'goondan/porter',
      messages,
      stream: true,
      stream_options: { include_usage: true },
    });
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    const text = chunks.map(({ choices }) => choices[0]?.delta.content ?? '').join('');
    expect(text).toBe('It is 12 degrees in the cellar.');
    expect(chunks.at(-1)?.usage?.total_tokens).toBeGreaterThan(0);
    expect(tools).toEqual(['thermometer__read', 'thermometer__read']);

    messages.push(said(text), say('Thank you.'));
    const { data: last, response } = await client.chat.completions.create({ model: 'porter', messages }).withResponse();
    expect(last.choices[0]?.message.content).toBe('You said: Thank you.');
    const instanceKey = response.headers.get('x-goondan-instance') ?? '';
    expect(await swarm.instances()).toMatchObject([{ agent: 'porter', instanceKey }]);
    // There must be three user messages, three answers and two tool calls with their results, each only once.
    const roles = (await kept('porter', instanceKey)).map(({ data }) => data.role);
    const withTool = ['user', 'assistant', 'tool', 'assistant'] as const;
    expect(roles).toEqual([...withTool, ...withTool, 'user', 'assistant']);
  });

  test('Y-01 an answer that fits the schema of the client, after a wrong one, streaming and not', async () => {
    const { client } = await openExample((yaml) =>
      yaml.replace(
        "      - say: 'You said",
        "      - when: does not fit\n        call: { tool: output__finish, args: { tempC: 21 } }\n      - say: 'You said",
      ),
    );
    const schema = {
      type: 'object',
      properties: { tempC: { type: 'number' } },
      required: ['tempC'],
      additionalProperties: false,
    };
    const response_format = { type: 'json_schema', json_schema: { name: 'weather', strict: true, schema } } as const;
    const asked = { model: 'gardener', messages: [say('Is it warm?')], response_format };
    // The client parses the content by itself.
    const { choices } = await client.chat.completions.parse(asked);
    expect(choices[0]?.message.parsed).toEqual({ tempC: 21 });
    const stream = client.chat.completions.stream(asked);
    const pieces: string[] = [];
    stream.on('content', (piece) => void pieces.push(piece));
    expect(JSON.parse((await stream.finalContent()) ?? '')).toEqual({ tempC: 21 });
    expect(pieces.join('')).toBe('{"tempC":21}');

    const never = { ...response_format, json_schema: { ...response_format.json_schema, schema: { type: 'null' } } };
    const failed = await failure(client.chat.completions.create({ ...asked, response_format: never }));
    expect(failed).toMatchObject({ code: 'E_OUTPUT_SCHEMA' });
    const unusable = { ...response_format, json_schema: { ...response_format.json_schema, schema: { nope: 1 } } };
    const refused = await failure(client.chat.completions.create({ ...asked, response_format: unusable }));
    expect(refused).toBeInstanceOf(BadRequestError);
    expect(refused).toMatchObject({ code: 'E_OUTPUT_INVALID' });
  });

  test('Y-02 images, audio and files, streaming and not, in one conversation', async () => {
    const {
      client,
      swarm,
      messages: kept,
    } = await openExample((yaml) => yaml.replace("'You said: {{input}}'", "'{{input}} {{files}}'"));
    const png = Buffer.from('iVBORw0KGgoAAAANSUhEUg==', 'base64').toString('base64');
    const file = { filename: 'paper.pdf', file_data: `data:application/pdf;base64,${png}` };
    const content: OpenAI.ChatCompletionContentPart[] = [
      { type: 'text', text: 'Look:' },
      { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
      { type: 'input_audio', input_audio: { data: Buffer.from('RIFF').toString('base64'), format: 'wav' } },
      { type: 'file', file },
    ];
    const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content }];
    const { data: first, response } = await client.chat.completions
      .create({ model: 'porter', messages })
      .withResponse();
    const answer = first.choices[0]?.message.content ?? '';
    expect(answer).toBe('Look: [image, 16 B] [file audio/wav, 4 B] [image paper.pdf, 16 B]');
    messages.push(said(answer), say('Again.'));
    const stream = await client.chat.completions.create({ model: 'porter', messages, stream: true });
    let text = '';
    for await (const { choices } of stream) text += choices[0]?.delta.content ?? '';
    expect(text).toBe('Again. ');
    const instanceKey = response.headers.get('x-goondan-instance') ?? '';
    expect(await swarm.instances()).toMatchObject([{ instanceKey }]);
    const [input] = await kept('porter', instanceKey);
    const reference = expect.stringMatching(/^blob:sha256-[0-9a-f]{64}$/);
    expect(input?.data.content).toMatchObject([
      { type: 'text', text: 'Look:' },
      { type: 'image', image: reference, mediaType: 'image/png', size: 16 },
      { type: 'file', data: reference, mediaType: 'audio/wav' },
      { type: 'file', data: reference, filename: 'paper.pdf' },
    ]);
    const other = await client.chat.completions.create({
      model: 'porter',
      messages: [{ role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://a.example/cat.png' } }] }],
    });
    expect(other.choices[0]?.message.content).toBe(' [image]');
  });
});
