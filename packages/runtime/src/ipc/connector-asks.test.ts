import { describe, expect, test } from 'bun:test';
import {
  type ConnectorAcceptance,
  type ConnectorAnswer,
  errorCatalogue,
  GoondanError,
  type TurnDelta,
} from '@goondan/types';
import { connectorLanguage } from './codec.ts';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import { type AnswerAsk, answerConnectorAsks, ConnectorAsker, MOST_ASKS } from './connector-asks.ts';
import { acceptConnectorEvents, connectorEmitter } from './connector-events.ts';
import type { FromConnector } from './from-connector.ts';
import { until } from '../../../../test/until.ts';

const event = { name: 'question', input: 'hi', createdAt: new Date(0) };
const acceptance: ConnectorAcceptance = {
  agent: 'coder',
  instanceKey: 'k',
  turnId: 'turn-1',
  traceId: 'f'.repeat(32),
  duplicate: false,
};
const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
const answer: ConnectorAnswer = { ...acceptance, response: 'Hi.', finishReason: 'text_response', usage };
const delta: TurnDelta = { type: 'text', text: 'H', turnId: 'turn-1', stepId: 's', stepIndex: 0 };
const failure = (work: Promise<unknown>) => work.catch((error: unknown) => error);

function connect(answerAsk: AnswerAsk) {
  const [parent, child] = connectInMemory(connectorLanguage);
  answerConnectorAsks(parent, answerAsk);
  const sent: FromConnector['type'][] = [];
  parent.onMessage(({ type }) => sent.push(type));
  const asker = new ConnectorAsker(child);
  const told: unknown[] = [];
  const ask = (id: string) =>
    asker.ask(id, event, { onAccepted: (each) => told.push(each), onDelta: (each) => told.push(each) });
  return { parent, child, asker, ask, told, sent };
}

describe("a connector's ask", () => {
  test('gets its acceptance, its deltas and its end, in this order', async () => {
    const got: unknown[] = [];
    const { ask, told, asker } = connect(async (id, each, { onAccepted, onDelta }) => {
      got.push([id, each]);
      onAccepted(acceptance);
      onDelta?.(delta);
      return answer;
    });
    expect(await ask('e-1').answer).toEqual(answer);
    expect(got).toEqual([['e-1', event]]);
    expect(told).toEqual([acceptance, delta]);
    expect(asker.size).toBe(0);
  });

  test('without a listener for deltas gets none', async () => {
    const { asker } = connect(async (_id, _event, { onDelta }) => ({
      ...answer,
      response: onDelta === undefined ? 'nobody listens' : 'somebody listens',
    }));
    const { response } = await asker.ask('e-1', event, { onAccepted: () => undefined }).answer;
    expect(response).toBe('nobody listens');
  });

  test('rejects with the reason when it is not accepted', async () => {
    const { ask } = connect(async () => {
      throw new GoondanError('E_INBOX_FULL', 'full', { retryable: true });
    });
    expect(await failure(ask('e-1').answer)).toMatchObject({ code: 'E_INBOX_FULL', message: 'full', retryable: true });
  });

  test('does not learn where in the bundle a turn, or the start of its agent, failed', async () => {
    const place = { file: 'extensions/rules.ts', line: 14, column: 7 };
    const error = { code: 'E_EXT_MIDDLEWARE', message: 'x is not defined', extension: 'rules' };
    const { ask } = connect(async (id) => {
      if (id === 'e-1') return { ...answer, finishReason: 'error', error: { ...error, place } };
      throw Object.assign(new GoondanError('E_EXT_INIT', 'register failed'), { place });
    });
    expect((await ask('e-1').answer).error).toEqual(error);
    const refused = await failure(ask('e-2').answer);
    expect(refused).toMatchObject({ code: 'E_EXT_INIT', message: 'register failed' });
    expect(refused).not.toHaveProperty('place');
  });

  test.each([
    ['where on this machine a damaged file is', 'E_STORE_CORRUPT', '/home/me/.goondan/a/inbox.jsonl is damaged'],
    ['lines that a server of the operator printed', 'E_MCP_CONNECT', 'It said: at /home/me/server.mjs:3:9'],
  ] as const)('does not learn: %s', async (_what, code, message) => {
    const damaged = () => new GoondanError(code, message);
    const { ask, parent, child } = connect(async () => {
      throw damaged();
    });
    acceptConnectorEvents(parent, () => Promise.reject(damaged()));
    const refused = await Promise.all([failure(ask('e-1').answer), failure(connectorEmitter(child)('e-2', event))]);
    for (const each of refused) {
      expect(each).toMatchObject({ code, message: errorCatalogue[code].meaning });
    }
  });

  test('twice for one event is two asks, and each is answered', async () => {
    let asked = 0;
    const { ask } = connect(async () => ({ ...answer, response: String((asked += 1)) }));
    const answers = await Promise.all([ask('same').answer, ask('same').answer]);
    expect(answers.map(({ response }) => response).toSorted()).toEqual(['1', '2']);
  });

  test.each([true, false])(
    'gets nothing more after it is left; the turn is cancelled only on request: %p',
    async (cancel) => {
      let options: Parameters<AnswerAsk>[2] | undefined;
      const { ask, told, asker } = connect((_id, _event, each) => {
        options = each;
        each.onAccepted(acceptance);
        return new Promise(() => undefined);
      });
      const asked = ask('e-1');
      const ended = failure(asked.answer);
      await until(() => told.length !== 0);
      asked.leave(new Error('enough'), cancel);
      expect(await ended).toMatchObject({ message: 'enough' });
      const left = await until(() => options?.left.aborted === true && options);
      expect(left.cancel.aborted).toBe(cancel);
      left.onDelta?.(delta);
      await Bun.sleep(5);
      expect([told, asker.size]).toEqual([[acceptance], 0]);
    },
  );

  test('ends when the orchestrator is gone', async () => {
    const { ask, parent, sent } = connect(() => new Promise(() => undefined));
    const asked = failure(ask('e-1').answer);
    await until(() => sent.length > 0);
    parent.close();
    expect(await asked).toMatchObject({ code: 'E_IPC_CLOSED' });
    expect(await failure(ask('e-2').answer)).toMatchObject({ code: 'E_IPC_CLOSED' });
  });

  test('is removed when the connector is gone, and its turn is not cancelled', async () => {
    const signals: AbortSignal[] = [];
    const { ask, child } = connect((_id, _event, { left, cancel }) => {
      signals.push(left, cancel);
      return new Promise(() => undefined);
    });
    void failure(ask('e-1').answer);
    await until(() => signals.length !== 0);
    child.close();
    await until(() => signals[0]?.aborted === true);
    expect(signals[1]?.aborted).toBe(false);
  });

  test('has a limit, on both sides', async () => {
    const { ask, child, parent, asker } = connect(() => new Promise(() => undefined));
    const heard: unknown[] = [];
    const asks = Array.from({ length: MOST_ASKS }, (_, n) => ask(`e-${n}`));
    for (const { answer: ended } of asks) void failure(ended);
    expect(() => ask('more')).toThrow(expect.objectContaining({ code: 'E_CALLS_FULL', retryable: true }));
    child.onMessage((message) => heard.push(message));
    // This writes directly to the channel, as a process without our runner could do.
    await child.send({ type: 'connector.ask', askId: 'mine', id: 'e', event, wantsDeltas: false });
    await until(() => heard.length !== 0);
    expect(heard).toMatchObject([
      { type: 'ask.ended', askId: 'mine', outcome: { status: 'failed', error: { code: 'E_CALLS_FULL' } } },
    ]);
    asks[0]?.leave(new Error('enough'), false);
    expect(asker.size).toBe(MOST_ASKS - 1);
    expect(() => void failure(ask('more').answer)).not.toThrow();
    parent.close();
  });
});
