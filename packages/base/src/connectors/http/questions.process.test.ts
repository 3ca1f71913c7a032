// Tests the questions of `http` over real HTTP. The test acts as the swarm.
import { describe, expect, test } from 'bun:test';
import { AskingSwarm } from '../../testing/asking-swarm.ts';
import { runConnector } from '../../testing/run-connector.ts';
import http from './http.ts';
import { until } from '../../../../../test/until.ts';
import { stopAfterEach } from '../../testing/stop-after-each.ts';

const tokens = { 'token-ci': 'a-token-of-the-ci-1', 'token-kim': 'a-token-of-kim-0001' };
const stopLater = stopAfterEach();

async function open(swarm = new AskingSwarm(), isAllowed = true) {
  const { ask } = swarm;
  const connector = stopLater(
    await runConnector(http, {
      config: { port: 0, path: '/in' },
      secrets: tokens,
      ask,
      ...(isAllowed ? { questions: swarm } : {}),
    }),
  );
  const call = async (client: keyof typeof tokens, path: string, body?: object, headers: object = {}) => {
    const init = body === undefined ? {} : { method: 'POST', body: JSON.stringify(body) };
    const authorization = `Bearer ${tokens[client]}`;
    const response = await fetch(`${connector.url}${path}`, {
      ...init,
      headers: { 'content-type': 'application/json', authorization, ...headers },
    });
    // The test knows the bodies.
    return { status: response.status, body: (await response.json()) as Record<string, never> };
  };
  const refusal = async (...request: Parameters<typeof call>) => {
    const { status, body } = await call(...request);
    return [status, (body.error as { code: string } | undefined)?.code];
  };
  return { swarm, connector, call, refusal };
}

const yes = { decision: 'approved', digest: 'digest-of-q1' };

describe('a request whose turn asks a person', () => {
  test('N-04 gets the question with 202, and its answer when it is repeated with the same key', async () => {
    const { swarm, call } = await open();
    const first = await call('token-ci', '/in', { input: 'Pay 3' }, { 'idempotency-key': 'k1' });
    expect(first).toEqual({
      status: 202,
      body: {
        questions: [
          {
            ...{ id: 'q1', agent: 'clerk', instanceKey: 'default', turnId: 'turn-1', kind: 'call', toolName: 'pay' },
            ...{ reason: 'It costs money.', args: { input: 'Pay 3' }, digest: 'digest-of-q1' },
            ...{ askedAt: '2026-01-01', expiresAt: '2026-01-02' },
          },
        ],
        id: 'k1',
        ...{ agent: 'clerk', instanceKey: 'default', turnId: 'turn-1', traceId: 'f'.repeat(32) },
      } as never,
    });
    const repeated = await call('token-ci', '/in', { input: 'Pay 3', id: 'k1' });
    expect([repeated.status, repeated.body.turnId]).toEqual([202, 'turn-1'] as never);
    expect(await call('token-ci', '/in/questions/q1', yes)).toEqual({
      status: 200,
      body: { id: 'q1', answered: true } as never,
    });
    expect(swarm.replies).toEqual([
      { id: 'q1', digest: 'digest-of-q1', decision: 'approved', by: 'ci', auth: { client: 'ci' } },
    ]);
    const { status, body } = await call('token-ci', '/in', { input: 'Pay 3', id: 'k1' });
    expect([status, body.response, body.duplicate]).toEqual([200, 'Pay 3: approved by ci.', true] as never);
  });

  test('N-04 gets a key for the repetition if it has none', async () => {
    const { call } = await open();
    const { body } = await call('token-ci', '/in', { input: 'Pay 3' });
    await call('token-ci', '/in/questions/q1', { ...yes, decision: 'denied', note: 'Too much.' });
    const { body: answer } = await call('token-ci', '/in', { input: 'Pay 3', id: body.id });
    expect(answer.response).toBe('Pay 3: denied by ci.' as never);
  });

  test('N-04 a stream has the question, its end, and the answer', async () => {
    const { connector, call } = await open();
    const response = await fetch(`${connector.url}/in`, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        accept: 'text/event-stream',
        authorization: `Bearer ${tokens['token-ci']}`,
      },
      body: JSON.stringify({ input: 'Pay 3' }),
    });
    const events: [string, Record<string, unknown>][] = [];
    let text = '';
    for await (const bytes of response.body ?? []) {
      text += new TextDecoder().decode(bytes as Uint8Array<ArrayBuffer>);
      for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
        const [, name = '', data = ''] = /^event: (\w+)\ndata: (.*)$/.exec(text.slice(0, end)) ?? [];
        text = text.slice(end + 2);
        events.push([name, JSON.parse(data) as Record<string, unknown>]);
        if (name === 'question') await call('token-ci', '/in/questions/q1', yes);
      }
    }
    expect(events.map(([name]) => name)).toEqual(['accepted', 'delta', 'question', 'answered', 'done']);
    expect(events[2]?.[1]).toMatchObject({ id: 'q1', args: { input: 'Pay 3' }, digest: 'digest-of-q1' });
    expect(events[2]?.[1]).not.toHaveProperty('auth');
    expect(events[3]?.[1]).toEqual({ id: 'q1', by: 'ci@door', via: 'http' });
    expect(events[4]?.[1].response).toBe('Pay 3: approved by ci.');
  });

  test('waits, as without questions, if the connection may not answer them', async () => {
    const { swarm, call, refusal } = await open(new AskingSwarm(), false);
    const answered = call('token-ci', '/in', { input: 'Pay 3' });
    await until(() => swarm.list().length !== 0);
    expect(await refusal('token-ci', '/in/questions')).toEqual([403, 'E_QUESTION_FORBIDDEN']);
    expect(await refusal('token-ci', '/in/questions/q1', yes)).toEqual([403, 'E_QUESTION_FORBIDDEN']);
    swarm.end('q1', 'answered');
    expect((await answered).status).toBe(200);
  });
});

describe('the questions of a client', () => {
  test('N-04 are listed to the client that began the turn, and to no other', async () => {
    const { call } = await open();
    await call('token-ci', '/in', { input: 'Pay 3' });
    const listed = await call('token-ci', '/in/questions');
    expect(listed.body.questions).toMatchObject([{ id: 'q1', toolName: 'pay' }]);
    expect((await call('token-kim', '/in/questions')).body.questions).toEqual([] as never);
  });

  test('N-04 an answer is refused with a code: another client, another digest, twice, late, unknown', async () => {
    const { swarm, call, refusal } = await open();
    await call('token-ci', '/in', { input: 'Pay 3' });
    await call('token-ci', '/in', { input: 'Pay 4' });
    expect(await refusal('token-kim', '/in/questions/q1', yes)).toEqual([403, 'E_QUESTION_FORBIDDEN']);
    expect(await refusal('token-ci', '/in/questions/q1', { ...yes, digest: 'x' })).toEqual([409, 'E_QUESTION_CHANGED']);
    expect(await refusal('token-ci', '/in/questions/q1', { ...yes, decision: 'maybe' })).toEqual([
      422,
      'E_QUESTION_REPLY',
    ]);
    expect(await refusal('token-ci', '/in/questions/q1', { ...yes, by: 'boss' })).toEqual([422, 'E_QUESTION_REPLY']);
    expect(await refusal('token-ci', '/in/questions/q1', { decision: 'approved' })).toEqual([422, 'E_QUESTION_REPLY']);
    expect(swarm.replies).toEqual([]);
    await call('token-ci', '/in/questions/q1', yes);
    expect(await refusal('token-ci', '/in/questions/q1', yes)).toEqual([409, 'E_QUESTION_ENDED']);
    swarm.end('q2', 'expired');
    expect(await refusal('token-ci', '/in/questions/q2', { ...yes, digest: 'digest-of-q2' })).toEqual([
      409,
      'E_QUESTION_ENDED',
    ]);
    expect(await refusal('token-ci', '/in/questions/q9', yes)).toEqual([404, 'E_QUESTION_UNKNOWN']);
    expect(await refusal('token-ci', '/in/questions', yes)).toEqual([405, 'E_HTTP_METHOD']);
    expect(await refusal('token-ci', '/in/questions/q1')).toEqual([405, 'E_HTTP_METHOD']);
    expect(await refusal('token-ci', '/in/questions/q1/more', yes)).toEqual([404, 'E_HTTP_PATH']);
    expect(swarm.replies).toHaveLength(1);
  });

  test('N-04 a refused answer says what a client can do, who has no `gdn`', async () => {
    const { swarm, call } = await open();
    await call('token-ci', '/in', { input: 'Pay 3' });
    const suggestion = async (...request: Parameters<typeof call>) =>
      ((await call(...request)).body.error as { suggestion: string } | undefined)?.suggestion;
    const changed = await suggestion('token-ci', '/in/questions/q1', { ...yes, digest: 'x' });
    const forbidden = await suggestion('token-kim', '/in/questions/q1', yes);
    swarm.end('q1', 'expired');
    const late = await suggestion('token-ci', '/in/questions/q1', yes);
    const unknown = await suggestion('token-ci', '/in/questions/q9', yes);
    expect(changed).toBe('Read the question again with `GET /in/questions`, and send its digest.');
    expect([late, unknown]).toEqual(Array(2).fill(expect.stringContaining('`GET /in/questions` lists')));
    expect(forbidden).toContain('the client whose request began the turn');
  });
});
