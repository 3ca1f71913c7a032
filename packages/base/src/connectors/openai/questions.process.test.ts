// Tests the questions of `openai` with the official client over real HTTP. The test acts as the swarm.
import { afterEach, describe, expect, test } from 'bun:test';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ConnectorEvent } from '@goondan/types';
import OpenAI, { APIError } from 'openai';
import type { ChatCompletionMessage, ChatCompletionMessageParam } from 'openai/resources';
import { AskingSwarm } from '../../testing/asking-swarm.ts';
import { runConnector } from '../../testing/run-connector.ts';
import openai from './openai.ts';
import { until } from '../../../../../test/until.ts';

const tokens = { 'token-ci': 'a-token-of-the-ci-1', 'token-kim': 'a-token-of-kim-0001' };
const running: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of running.splice(0)) await each.stop();
});

async function open(swarm = new AskingSwarm(), { isAllowed = true, folder = '', config = {} } = {}) {
  const connector = await runConnector(openai, {
    config: { port: 0, ...config },
    secrets: tokens,
    agents: ['clerk'],
    ask: swarm.ask,
    ...(isAllowed ? { questions: swarm } : {}),
    ...(folder === '' ? {} : { folder }),
  });
  running.push(connector);
  const clientOf = (client: keyof typeof tokens, headers: Record<string, string> = {}) =>
    new OpenAI({ baseURL: `${connector.url}/v1`, apiKey: tokens[client], defaultHeaders: headers });
  const chatOf =
    (client: OpenAI) =>
    async (...messages: ChatCompletionMessageParam[]) => {
      const { choices } = await client.chat.completions.create({ model: 'clerk', messages });
      // The connector sends one choice.
      return choices[0] as (typeof choices)[0];
    };
  return { swarm, connector, clientOf, chat: chatOf(clientOf('token-ci')), chatOf };
}

const say = (content: string) => ({ role: 'user', content }) as const;
const answer = (content: string, id = 'call_q1') => ({ role: 'tool', tool_call_id: id, content }) as const;
const refusal = (work: Promise<unknown>) =>
  work.then(
    () => 'none',
    (error: unknown) => (error instanceof APIError ? [error.status, error.code] : error),
  );
const callsOf = ({ tool_calls = [] }: ChatCompletionMessage) =>
  tool_calls.flatMap((call) => (call.type === 'function' ? [{ id: call.id, ...call.function }] : []));
const conversationOf = ({ properties }: ConnectorEvent) => properties?.conversation;

describe('a question', () => {
  test('N-04 is a tool call of the assistant, and the tool message continues the same turn', async () => {
    const { swarm, connector, chat } = await open();
    const asked = await chat(say('Pay 3'));
    expect([asked.finish_reason, asked.message.content]).toEqual(['tool_calls', null]);
    const [call] = callsOf(asked.message);
    expect([call?.id, call?.name]).toEqual(['call_q1', 'approve_call']);
    expect(JSON.parse(call?.arguments ?? '')).toEqual({
      ...{ id: 'q1', digest: 'digest-of-q1', kind: 'call', agent: 'clerk', reason: 'It costs money.' },
      ...{ tool: 'pay', arguments: { input: 'Pay 3' }, expiresAt: '2026-01-02' },
    });
    const done = await chat(say('Pay 3'), asked.message, answer('{"decision":"denied","note":"Too much."}'));
    expect([done.finish_reason, done.message.content]).toEqual(['stop', 'Pay 3: denied by ci.']);
    expect(swarm.replies).toEqual([
      {
        ...{ id: 'q1', digest: 'digest-of-q1', decision: 'denied', note: 'Too much.', by: 'ci' },
        auth: { client: 'ci' },
      },
    ]);
    expect(connector.events.map(({ id }) => id)).toEqual(Array(2).fill(connector.events[0]?.id));
  });

  test('N-04 of the next message finds the conversation again', async () => {
    const { connector, chat } = await open();
    const asked = await chat(say('Pay 3'));
    const history = [say('Pay 3'), asked.message, answer('yes')] as const;
    const done = await chat(...history);
    const next = await chat(...history, done.message, say('Pay 4'));
    await chat(...history, done.message, say('Pay 4'), next.message, answer('no', 'call_q2'));
    const [first, ...others] = connector.events;
    expect(first === undefined ? undefined : conversationOf(first)).toMatch(/^chat-/);
    expect(others.map((event) => [conversationOf(event), event.input])).toEqual([
      [conversationOf(first as ConnectorEvent), 'Pay 3'],
      [conversationOf(first as ConnectorEvent), 'Pay 4'],
      [conversationOf(first as ConnectorEvent), 'Pay 4'],
    ]);
  });

  test('N-04 in a stream comes after the text so far, and the rest is a second stream', async () => {
    const { clientOf } = await open();
    const client = clientOf('token-ci');
    const streamed = async (messages: ChatCompletionMessageParam[]) => {
      const stream = client.chat.completions.stream({
        model: 'clerk',
        messages,
        stream_options: { include_usage: true },
      });
      return (await stream.finalChatCompletion()).choices[0];
    };
    const asked = await streamed([say('Pay 3')]);
    expect([asked?.finish_reason, asked?.message.content]).toEqual(['tool_calls', 'Let me see.']);
    const message = asked?.message as ChatCompletionMessage;
    expect(callsOf(message).map(({ name }) => name)).toEqual(['approve_call']);
    const done = await streamed([say('Pay 3'), message, answer('yes')]);
    expect([done?.finish_reason, done?.message.content]).toEqual(['stop', 'Pay 3: approved by ci.']);
  });

  test('N-04 with a form is a call of ask_person, whose answer has the content', async () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } };
    const { swarm, chat } = await open(new AskingSwarm([{ kind: 'form', args: {}, schema }]));
    const asked = await chat(say('Where?'));
    const [call] = callsOf(asked.message);
    expect([call?.name, JSON.parse(call?.arguments ?? '')]).toEqual([
      'ask_person',
      expect.objectContaining({ kind: 'form', schema }),
    ]);
    await chat(say('Where?'), asked.message, answer('{"decision":"approved","content":{"city":"Bonn"}}'));
    expect(swarm.replies[0]).toMatchObject({ decision: 'approved', content: { city: 'Bonn' } });
  });

  test('N-04 after another question of the same turn is a further tool call', async () => {
    const { chat } = await open(new AskingSwarm([{}, {}]));
    const first = await chat(say('Pay 3'));
    const second = await chat(say('Pay 3'), first.message, answer('yes'));
    expect(callsOf(second.message).map(({ id }) => id)).toEqual(['call_q2']);
    const history = [say('Pay 3'), first.message, answer('yes'), second.message, answer('no', 'call_q2')];
    expect((await chat(...history)).message.content).toBe('Pay 3: approved by ci, denied by ci.');
  });

  test('N-04 is found after a restart of the connector', async () => {
    const swarm = new AskingSwarm();
    const folder = mkdtempSync(join(tmpdir(), 'openai-questions-'));
    running.push({ stop: async () => rmSync(folder, { recursive: true, force: true }) });
    const before = await open(swarm, { folder });
    const asked = await before.chat(say('Pay 3'));
    await running.pop()?.stop();
    const { chat } = await open(swarm, { folder });
    const done = await chat(say('Pay 3'), asked.message, answer('yes'));
    expect(done.message.content).toBe('Pay 3: approved by ci.');
  });

  test('is not shown if the connection may not answer it: the request waits', async () => {
    const { swarm, chat } = await open(new AskingSwarm(), { isAllowed: false });
    const answered = chat(say('Pay 3'));
    await until(() => swarm.list().length !== 0);
    swarm.end('q1', 'answered');
    expect((await answered).message.content).toBe('Pay 3: elsewhere.');
    expect(await refusal(chat(say('Pay 3'), answer('yes')))).toEqual([400, 'E_HTTP_BODY']);
  });
});

describe('an answer', () => {
  test('N-04 is refused with a code: another client, another digest, changed, unknown, unreadable', async () => {
    const { swarm, chat, chatOf, clientOf } = await open();
    const { message } = await chat(say('Pay 3'));
    const foreign = chatOf(clientOf('token-kim'))(say('Pay 3'), message, answer('yes'));
    expect(await refusal(foreign)).toEqual([403, 'E_QUESTION_FORBIDDEN']);
    const listening = chatOf(clientOf('token-kim'))(say('Pay 3'), message, answer('wait'));
    expect(await refusal(listening)).toEqual([403, 'E_QUESTION_FORBIDDEN']);
    const changed = answer('{"decision":"approved","digest":"x"}');
    expect(await refusal(chat(say('Pay 3'), message, changed))).toEqual([409, 'E_QUESTION_CHANGED']);
    expect(await refusal(chat(say('Pay 3'), message, answer('yes', 'call_q9')))).toEqual([404, 'E_QUESTION_UNKNOWN']);
    expect(await refusal(chat(say('Pay 3'), message, answer('perhaps')))).toEqual([422, 'E_QUESTION_REPLY']);
    expect(await refusal(chat(say('Pay 3'), message, answer('{"decision":"approved","by":"boss"}')))).toEqual([
      422,
      'E_QUESTION_REPLY',
    ]);
    expect(swarm.replies).toEqual([]);
  });

  test('N-04 that is refused says what a client can do, who has no `gdn`', async () => {
    const { swarm, chat, chatOf, clientOf } = await open();
    const { message } = await chat(say('Pay 3'));
    swarm.end('q1', 'answered');
    const requests = [
      chat(say('Pay 3'), message, answer('yes')),
      chat(say('Pay 3'), message, answer('yes', 'call_q9')),
      chatOf(clientOf('token-kim'))(say('Pay 3'), message, answer('yes')),
    ];
    const messages = await Promise.all(requests.map((each) => each.then(() => '', String)));
    expect(messages.join('\n')).not.toContain('gdn');
    expect(messages).toEqual([
      expect.stringContaining('Send `{"decision": "wait"}` as the tool message'),
      expect.stringContaining('Send the `tool_call_id` of a question'),
      expect.stringContaining('the client whose request began the turn'),
    ]);
  });

  test('N-04 is left to somebody else with wait, and the request waits for the turn', async () => {
    const { swarm, chat } = await open();
    const { message } = await chat(say('Pay 3'));
    const waiting = chat(say('Pay 3'), message, answer('wait'));
    expect(await Promise.race([waiting, Bun.sleep(30).then(() => 'waits')])).toBe('waits');
    swarm.end('q1', 'answered');
    expect((await waiting).message.content).toBe('Pay 3: elsewhere.');
  });

  test('N-04 that is left to somebody else keeps its turn when the client gives up, and the client can wait again', async () => {
    const { swarm, clientOf, chat, chatOf } = await open(new AskingSwarm(), { config: { timeoutSeconds: 0.1 } });
    const { message } = await chat(say('Pay 3'));
    const messages = [say('Pay 3'), message, answer('wait')];
    const once = clientOf('token-ci').withOptions({ maxRetries: 0 });
    expect(await refusal(chatOf(once)(...messages))).toEqual([504, 'E_HTTP_TIMEOUT']);
    const signal = AbortSignal.timeout(30);
    await once.chat.completions.create({ model: 'clerk', messages }, { signal }).catch(() => undefined);
    await Bun.sleep(20);
    expect(swarm.cancelled).toEqual([]);
    swarm.end('q1', 'answered');
    expect((await chat(...messages)).message.content).toBe('Pay 3: elsewhere.');
  });

  test('N-04 is refused if somebody else was first, and the client then waits for the turn', async () => {
    const { swarm, chat } = await open();
    const { message } = await chat(say('Pay 3'));
    swarm.end('q1', 'answered');
    expect(await refusal(chat(say('Pay 3'), message, answer('yes')))).toEqual([409, 'E_QUESTION_ENDED']);
    const done = await chat(say('Pay 3'), message, answer('wait'));
    expect(done.message.content).toBe('Pay 3: elsewhere.');
  });

  test('N-04 that is repeated, because its response was lost, counts once, and another one is refused', async () => {
    const { swarm, chat } = await open();
    const { message } = await chat(say('Pay 3'));
    const answers = [1, 2].map(() => chat(say('Pay 3'), message, answer('yes')));
    const [done, again] = [await answers[0], await chat(say('Pay 3'), message, answer('yes'))];
    expect([done?.message.content, again.message.content]).toEqual(Array(2).fill('Pay 3: approved by ci.'));
    await Promise.allSettled(answers);
    expect(swarm.replies).toHaveLength(1);
    expect(await refusal(chat(say('Pay 3'), message, answer('no')))).toEqual([409, 'E_QUESTION_ENDED']);
  });
});

describe('a user message instead of an answer', () => {
  test('N-04 starts a new conversation with the transcript; the question stays open', async () => {
    const { swarm, connector, chat } = await open();
    const asked = await chat(say('Pay 3'));
    await chat(say('Pay 3'), asked.message, say('Never mind'));
    const [first, second] = connector.events;
    expect(second === undefined || first === undefined).toBe(false);
    expect(conversationOf(second as ConnectorEvent)).not.toBe(conversationOf(first as ConnectorEvent));
    expect(second?.input).toContain('Earlier in this conversation:\n\nUser: Pay 3');
    expect(swarm.list().map(({ id }) => id)).toEqual(['q1', 'q2']);
  });

  test('N-04 of a named conversation is its next message', async () => {
    const { connector, clientOf, chatOf } = await open();
    const chat = chatOf(clientOf('token-ci', { 'x-conversation-id': 'mine' }));
    const asked = await chat(say('Pay 3'));
    await chat(say('Pay 3'), asked.message, say('And pay 4'));
    expect(connector.events.map(conversationOf)).toEqual(['ci/mine', 'ci/mine']);
    expect(connector.events[0]?.id).not.toBe(connector.events[1]?.id);
  });
});
