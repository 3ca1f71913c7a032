import { describe, expect, test } from 'bun:test';
import type { ConnectorAnswer, ConnectorEvent } from '@goondan/types';
import { connectorLanguage } from '../ipc/codec.ts';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import { type AnswerAsk, answerConnectorAsks, ConnectorAsker } from '../ipc/connector-asks.ts';
import { countedIds } from '../testing/counted-ids.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { Asks } from './asks.ts';
import { eventChecker } from './check-event.ts';
import type { SendWithFiles } from './send-with-files.ts';
import { until } from '../../../../test/until.ts';

const noFiles: SendWithFiles = (event, send) => send(event);

const acceptance = { agent: 'a', instanceKey: 'k', turnId: 't', traceId: 'f'.repeat(32), duplicate: false };
const usage = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
const answer: ConnectorAnswer = { ...acceptance, response: 'Hi.', finishReason: 'text_response', usage };
const never = new Promise<never>(() => undefined);

function open(answerAsk: AnswerAsk) {
  const [parent, child] = connectInMemory(connectorLanguage);
  answerConnectorAsks(parent, answerAsk);
  const malformed: string[] = [];
  const thrown: unknown[] = [];
  const check = eventChecker({
    clock: manualClock(),
    ids: countedIds(),
    onMalformed: ({ message }) => malformed.push(message),
  });
  const asks = new Asks(new ConnectorAsker(child), check, (error) => thrown.push(error), noFiles);
  return { asks, malformed, thrown };
}

describe('an ask of a connector', () => {
  test('is sent as it was at the call, with an id and a time', async () => {
    const got: unknown[] = [];
    const { asks } = open(async (id, event) => {
      got.push([id, event]);
      return answer;
    });
    const event = { name: 'question', input: 'hi', properties: { chat: 1 } };
    const asked = asks.ask(event);
    event.properties.chat = 2;
    expect(await asked).toEqual(answer);
    expect(got).toEqual([
      ['heard-1', { name: 'question', input: 'hi', properties: { chat: 1 }, createdAt: expect.any(Date) }],
    ]);
  });

  test('is rejected when it is malformed, here and in the log', async () => {
    const { asks, malformed } = open(async () => answer);
    const asked = asks.ask({ input: 'x' } as unknown as ConnectorEvent);
    expect(await asked.catch((error: unknown) => error)).toMatchObject({ code: 'E_CONNECTOR_EVENT' });
    const trace = asks.ask({ name: 'x', traceId: 'F'.repeat(32) });
    expect(await trace.catch((error: unknown) => error)).toMatchObject({ code: 'E_CONNECTOR_EVENT' });
    expect(malformed).toEqual([
      expect.stringContaining('name is missing'),
      expect.stringContaining('traceId is not 32 lowercase hexadecimal digits'),
    ]);
    expect(asks.underWay).toBe(0);
  });

  test('ends with the reason of its signal, before it began and while it waits', async () => {
    const seen: string[] = [];
    const { asks } = open((id) => {
      seen.push(id);
      return never;
    });
    const before = asks.ask({ name: 'x' }, { signal: AbortSignal.abort(new Error('before')) });
    expect(await before.catch((error: unknown) => error)).toMatchObject({ message: 'before' });
    expect(seen).toEqual([]);
    const later = new AbortController();
    const waiting = asks.ask({ name: 'x' }, { signal: later.signal }).catch((error: unknown) => error);
    await until(() => seen.length !== 0);
    later.abort(new Error('later'));
    expect(await waiting).toMatchObject({ message: 'later' });
    await asks.settled();
  });

  test('survives callbacks that throw', async () => {
    const { asks, thrown } = open(async (_id, _event, { onAccepted, onDelta }) => {
      onAccepted(acceptance);
      onDelta?.({ type: 'text', text: 'H', turnId: 't', stepId: 's', stepIndex: 0 });
      return answer;
    });
    const bug = (what: string) => () => {
      throw new Error(what);
    };
    const options = { onAccepted: bug('accepted'), onDelta: bug('delta') };
    expect(await asks.ask({ name: 'x' }, options)).toEqual(answer);
    expect(thrown).toMatchObject([{ message: 'accepted' }, { message: 'delta' }]);
  });

  test('settles with the last one, also one that was given up', async () => {
    const { asks } = open(() => never);
    const asked = asks.ask({ name: 'x' }).catch((error: unknown) => error);
    let isSettled = false;
    const settled = asks.settled().then(() => (isSettled = true));
    await Bun.sleep(5);
    expect([isSettled, asks.underWay]).toEqual([false, 1]);
    asks.giveUp();
    expect(await asked).toMatchObject({ code: 'E_SWARM_STOPPED' });
    expect(await settled).toBe(true);
  });
});
