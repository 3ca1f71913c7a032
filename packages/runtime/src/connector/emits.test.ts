import { describe, expect, test } from 'bun:test';
import { type ConnectorEvent, GoondanError } from '@goondan/types';
import type { HeardEvent } from '../ipc/from-connector.ts';
import { countedIds } from '../testing/counted-ids.ts';
import { manualClock } from '../testing/manual-clock.ts';
import { eventChecker } from './check-event.ts';
import { Emits } from './emits.ts';
import type { SendWithFiles } from './send-with-files.ts';

const noFiles: SendWithFiles = (event, send) => send(event);

function openEmits() {
  const sent: { id: string; event: HeardEvent; answer: PromiseWithResolvers<void> }[] = [];
  const malformed: string[] = [];
  const clock = manualClock();
  const emits = new Emits(
    (id, event) => {
      const answer = Promise.withResolvers<void>();
      sent.push({ id, event, answer });
      return answer.promise;
    },
    eventChecker({ clock, ids: countedIds(), onMalformed: ({ message }) => malformed.push(message) }),
    noFiles,
  );
  return { emits, sent, malformed, clock };
}

const outcome = (emitted: Promise<void>) =>
  emitted.then(
    () => 'accepted',
    (error: unknown) => (error instanceof GoondanError ? error.code : String(error)),
  );

describe('emit', () => {
  test('sends the event with the id of its sender', async () => {
    const { emits, sent } = openEmits();
    const createdAt = new Date(7);
    const event = { name: 'message', input: 'hi', properties: { chat: 7 }, auth: { user: 'kim' }, metadata: { a: [] } };
    const emitted = outcome(emits.emit({ ...event, id: 'delivery-1', createdAt }));
    expect(sent).toMatchObject([{ id: 'delivery-1', event: { ...event, createdAt } }]);
    expect(sent[0]?.event).not.toHaveProperty('id');
    sent[0]?.answer.resolve();
    expect(await emitted).toBe('accepted');
  });

  test('generates a missing id and time', () => {
    const { emits, sent, clock } = openEmits();
    void emits.emit({ name: 'message' });
    // `headers.get` returns null for a missing header.
    void emits.emit({ name: 'message', id: null } as unknown as ConnectorEvent);
    expect(sent.map(({ id, event }) => [id, event])).toEqual([
      ['heard-1', { name: 'message', createdAt: clock.now() }],
      ['heard-2', { name: 'message', createdAt: clock.now() }],
    ]);
  });

  test('with an id that is being sent is the same emit; afterwards it is sent again', async () => {
    const { emits, sent } = openEmits();
    const both = [emits.emit({ name: 'a', id: '1' }), emits.emit({ name: 'a', id: '1' })].map(outcome);
    expect(sent).toHaveLength(1);
    sent[0]?.answer.resolve();
    expect(await Promise.all(both)).toEqual(['accepted', 'accepted']);
    void emits.emit({ name: 'a', id: '1' });
    expect(sent).toHaveLength(2);
  });

  test.each<[problem: string, event: unknown]>([
    ['it is not an object', undefined],
    ['it is not an object', new Date()],
    ['name is missing', {}],
    ['name is ""', { name: '' }],
    ['input is 7', { name: 'a', input: 7 }],
    ['properties is a list', { name: 'a', properties: [] }],
    ['auth.when is not a plain object', { name: 'a', auth: { when: new Date() } }],
    ['metadata.size is a bigint', { name: 'a', metadata: { size: 1n } }],
    ['createdAt is an invalid date', { name: 'a', createdAt: new Date(NaN) }],
    ['id is 7', { name: 'a', id: 7 }],
    [
      '"message" is not a field of an event; the nearest field is "input"',
      { name: 'a', message: { type: 'text', text: 'hi' } },
    ],
    ['"instanceKey" is not a field of an event; the nearest field is "properties"', { name: 'a', instanceKey: 'kim' }],
    ['"propertys" is not a field of an event; the nearest field is "properties"', { name: 'a', propertys: {} }],
    ['"weather" is not a field of an event; its fields are name, input, properties', { name: 'a', weather: 'fine' }],
  ])('rejects a malformed event, here and in the log: %s', async (problem, event) => {
    const { emits, sent, malformed } = openEmits();
    const error = await emits.emit(event as ConnectorEvent).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: 'E_CONNECTOR_EVENT', message: expect.stringContaining(problem) });
    expect(malformed).toEqual([expect.stringContaining(problem)]);
    expect([sent.length, emits.underWay]).toEqual([0, 0]);
  });

  test('accepts an unknown field that is undefined', () => {
    const { emits, sent } = openEmits();
    const event = { name: 'a', weather: undefined };
    void emits.emit(event);
    expect(sent).toHaveLength(1);
  });

  test('settles with the last open one, also one that began meanwhile', async () => {
    const { emits, sent } = openEmits();
    await emits.settled();
    void emits.emit({ name: 'a' });
    let isSettled = false;
    const settled = emits.settled().then(() => (isSettled = true));
    void emits.emit({ name: 'b' });
    sent[0]?.answer.reject(new GoondanError('E_INGRESS_RULE', 'no'));
    await Bun.sleep(1);
    expect([isSettled, emits.underWay]).toEqual([false, 1]);
    sent[1]?.answer.resolve();
    expect(await settled).toBe(true);
  });
});
