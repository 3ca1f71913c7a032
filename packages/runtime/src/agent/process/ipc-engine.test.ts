import { expect, spyOn, test } from 'bun:test';
import type { AgentEvent, TurnResult } from '@goondan/types';
import { agentLanguage } from '../../ipc/codec.ts';
import { connectInMemory } from '../../testing/connect-in-memory.ts';
import type { FromAgent } from '../../ipc/from-agent.ts';
import type { ToAgent } from '../../ipc/to-agent.ts';
import { countedIds } from '../../testing/counted-ids.ts';
import { manualClock } from '../../testing/manual-clock.ts';
import { inputEvent } from '../../testing/input-event.ts';
import { rejectionOf } from '../../workspace/simulation/rejection-of.ts';
import type { OnUsage } from '../seams/engine.ts';
import { IpcEngine } from './ipc-engine.ts';

const to = { agentName: 'other', instanceKey: 'default' };
const event = inputEvent('e', { type: 'agent.message', source: { kind: 'agent', name: 'tester' } });
const result: TurnResult = { turnId: 'turn-e', finishReason: 'text_response' };
/** The time limit of a request. */
const limit = { ms: 700, field: 'timeoutMs', from: 'call' } as const;
const never = new AbortController().signal;

function setUp() {
  const [parent, child] = connectInMemory(agentLanguage);
  const clock = manualClock();
  const said: FromAgent[] = [];
  parent.onMessage((message) => void said.push(message));
  const engine = new IpcEngine(child, [{ name: 'other' }], clock, countedIds());
  child.onMessage((message: ToAgent) => {
    if (message.type === 'call.ended') engine.calls.answer(message.callId, message.outcome);
    if (message.type === 'agents.listed') engine.lists.answer(message.callId, message.instances);
  });
  return { parent, child, clock, said, engine };
}

const fail = (code: 'E_AGENT_CYCLE' | 'E_INBOX_FULL') =>
  ({ status: 'failed', error: { code, message: 'why' } }) as const;

test('A-01 a request is answered by the outcome with its callId, in any order', async () => {
  const { parent, engine, said, clock } = setUp();
  const [one, two] = [engine.request(to, event, limit, never), engine.request(to, event, { ...limit, ms: 900 }, never)];
  await clock.advance(0);
  expect(said).toMatchObject([
    { type: 'call', callId: 'request-1', kind: 'request', to, timeoutMs: 700 },
    { type: 'call', callId: 'request-2', kind: 'request', to, timeoutMs: 900 },
  ]);
  void parent.send({ type: 'call.ended', callId: 'request-2', outcome: fail('E_AGENT_CYCLE') });
  void parent.send({ type: 'call.ended', callId: 'request-1', outcome: { status: 'answered', result } });
  expect(await rejectionOf(two)).toMatchObject({ code: 'E_AGENT_CYCLE', message: 'why' });
  expect(await one).toEqual(result);
});

test('a request names the field that sets its timeout, and has no timeout when none is set', async () => {
  const { engine, said, clock } = setUp();
  void engine.request(to, event, { ms: 700, field: 'requestTimeoutMs', from: 'turn' }, never);
  void engine.request(to, event, undefined, never);
  await clock.advance(0);
  const fields = { timeoutMs: 700, timeoutField: 'requestTimeoutMs', timeoutFrom: 'turn' };
  expect(said).toMatchObject([fields, { callId: 'request-2' }]);
  expect(said[1]).not.toContainAnyKeys(Object.keys(fields));
});

test('A-02 A-08 a send is accepted, or refused with the reason', async () => {
  const { parent, engine, said, clock } = setUp();
  const [accepted, refused] = [engine.deliver(to, event), engine.deliver(to, event)];
  await clock.advance(0);
  expect(said).toMatchObject([{ kind: 'send' }, { kind: 'send' }]);
  void parent.send({ type: 'call.ended', callId: 'send-1', outcome: { status: 'accepted' } });
  void parent.send({ type: 'call.ended', callId: 'send-2', outcome: fail('E_INBOX_FULL') });
  expect(await accepted).toEqual({ accepted: true });
  expect(await rejectionOf(refused)).toMatchObject({ code: 'E_INBOX_FULL' });
  // No timer is left.
  expect(clock.pending).toBe(0);
});

test('an answer of the wrong kind is an error, not an answer', async () => {
  const { parent, engine, clock } = setUp();
  const [request, send] = [engine.request(to, event, limit, never), engine.deliver(to, event)];
  await clock.advance(0);
  void parent.send({ type: 'call.ended', callId: 'request-1', outcome: { status: 'accepted' } });
  void parent.send({ type: 'call.ended', callId: 'send-1', outcome: { status: 'answered', result } });
  const rejections = await Promise.all([rejectionOf(request), rejectionOf(send)]);
  expect(rejections).toMatchObject([{ code: 'E_IPC_FRAME' }, { code: 'E_IPC_FRAME' }]);
});

test('a caller that gives up stops waiting at once and cancels its call; a later answer is ignored', async () => {
  const { engine, said, clock } = setUp();
  const giving = new AbortController();
  const request = engine.request(to, event, limit, giving.signal);
  await clock.advance(0);
  giving.abort(new Error('enough'));
  expect(await rejectionOf(request)).toMatchObject({ message: 'enough' });
  await clock.advance(0);
  expect(said.at(-1)).toEqual({ type: 'call.cancelled', callId: 'request-1' });
  expect(engine.calls.answer('request-1', { status: 'answered', result })).toBe(false);

  // The signal was already aborted, so nothing is sent.
  expect(await rejectionOf(engine.request(to, event, limit, giving.signal))).toMatchObject({
    message: 'enough',
  });
  expect(said.filter(({ type }) => type === 'call')).toHaveLength(1);
});

test('a caller that gives up gets the tokens of a late answer, and waits for them for six seconds at most', async () => {
  const { engine, clock } = setUp();
  const waiting: Parameters<OnUsage>[0][] = [];
  const giveUp = async () => {
    const giving = new AbortController();
    const request = engine.request(to, event, undefined, giving.signal, (usage) => waiting.push(usage));
    await clock.advance(0);
    giving.abort(new Error('enough'));
    await rejectionOf(request);
  };
  await giveUp();
  await giveUp();
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  expect(engine.ended('request-1', { status: 'answered', result, usage })).toBe(true);
  await clock.advance(6_000);
  expect(
    await Promise.race([Promise.all(waiting.map(async (each) => each)), Bun.sleep(100).then(() => 'waits')]),
  ).toEqual([usage, undefined]);
  expect(engine.ended('request-2', { status: 'answered', result, usage })).toBe(false);
});

test('Y-03 a timeout ends a call at once, and the tokens follow it, though both are read before the caller goes on', async () => {
  const { engine, clock } = setUp();
  const usages: Parameters<OnUsage>[0][] = [];
  const ask = async () => {
    const asked = rejectionOf(engine.request(to, event, limit, never, (usage) => usages.push(usage)));
    await clock.advance(0);
    return asked;
  };
  const [one, other] = [ask(), ask()];
  await clock.advance(0);
  const late = { status: 'failed', error: { code: 'E_AGENT_TIMEOUT', message: 'why' } } as const;
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  for (const outcome of [
    { ...late, usageFollows: true },
    { ...late, usage },
  ])
    expect(engine.ended('request-1', outcome)).toBe(true);
  expect(engine.ended('request-2', { ...late, usageFollows: true })).toBe(true);
  for (const asked of [one, other]) expect(await asked).toMatchObject({ code: 'E_AGENT_TIMEOUT' });
  await clock.advance(6_000);
  expect(await Promise.all(usages.map(async (each) => each))).toEqual([usage, undefined]);
  expect([engine.ended('request-1', { ...late, usage }), clock.pending]).toEqual([false, 0]);
});

test('Y-03 a caller that gives up does not take the end of its call for the tokens that follow', async () => {
  const { engine, clock } = setUp();
  const giving = new AbortController();
  const usages: Parameters<OnUsage>[0][] = [];
  const asked = rejectionOf(engine.request(to, event, limit, giving.signal, (usage) => usages.push(usage)));
  await clock.advance(0);
  giving.abort(new Error('enough'));
  await asked;
  const cancelled = { status: 'failed', error: { code: 'E_CANCELLED', message: 'why' } } as const;
  const usage = { inputTokens: 1, outputTokens: 2, totalTokens: 3 };
  expect(engine.ended('request-1', { ...cancelled, usageFollows: true })).toBe(true);
  expect(engine.ended('request-1', { ...cancelled, usage })).toBe(true);
  expect(await usages[0]).toEqual(usage);
});

test('an answered request is not cancelled by the end of its turn', async () => {
  const { parent, engine, said, clock } = setUp();
  const giving = new AbortController();
  const forgets = spyOn(giving.signal, 'removeEventListener');
  const request = engine.request(to, event, limit, giving.signal);
  await clock.advance(0);
  await parent.send({ type: 'call.ended', callId: 'request-1', outcome: { status: 'answered', result } });
  await request;
  // A turn may make a thousand requests, so every listener must be removed.
  expect(forgets).toHaveBeenCalledTimes(1);
  giving.abort();
  await clock.advance(0);
  expect(said.map(({ type }) => type)).toEqual(['call']);
});

test('list is answered by the orchestrator, and the catalog is known without asking', async () => {
  const { parent, engine, clock } = setUp();
  const list = engine.list();
  await clock.advance(0);
  const instances = [{ ...to, status: 'idle' }] as const;
  await parent.send({ type: 'agents.listed', callId: 'list-1', instances });
  expect(await list).toEqual(instances);
  expect(engine.catalog()).toEqual([{ name: 'other' }]);
});

test('calls that the orchestrator answers at once have a deadline; a request has its turn’s', async () => {
  const { engine, clock } = setUp();
  const [list, send] = [rejectionOf(engine.list()), rejectionOf(engine.deliver(to, event))];
  let isOver = false;
  void engine.request(to, event, limit, never).finally(() => void (isOver = true));
  await clock.advance(30_000);
  expect(await list).toMatchObject({ code: 'E_AGENT_TIMEOUT', retryable: true });
  expect(await send).toMatchObject({ code: 'E_AGENT_TIMEOUT', retryable: true });
  expect(isOver).toBe(false);
});

test('a closed channel ends every wait', async () => {
  const { parent, engine, clock } = setUp();
  const waits = [engine.request(to, event, limit, never), engine.deliver(to, event), engine.list()].map(rejectionOf);
  await clock.advance(0);
  parent.close();
  for (const wait of waits) expect(await wait).toMatchObject({ code: 'E_IPC_CLOSED' });
});

test('a call that cannot be sent is refused; a timeout too long for a timer is shortened', async () => {
  const { engine, said, clock } = setUp();
  const circle = { ...event, metadata: { big: 1n } } as unknown as AgentEvent;
  expect(await rejectionOf(engine.deliver(to, circle))).toMatchObject({ code: 'E_IPC_FRAME' });
  void engine.request(to, event, { ...limit, ms: Number.POSITIVE_INFINITY }, never);
  await clock.advance(0);
  expect(said).toMatchObject([{ kind: 'request', timeoutMs: 2 ** 31 - 1 }]);
});

test('a call beyond the limit of 1,000 is refused and not sent', async () => {
  const { engine, said, clock } = setUp();
  for (let n = 0; n < 1_000; n++) void engine.request(to, event, limit, never);
  expect(await rejectionOf(engine.request(to, event, limit, never))).toMatchObject({
    code: 'E_IPC_FULL',
  });
  await clock.advance(0);
  await Bun.sleep(50);
  expect(said).toHaveLength(1_000);
});
