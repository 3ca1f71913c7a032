import { expect, test } from 'bun:test';
import { addressEvent } from './address-event.ts';

const to = { agentName: 'coder', instanceKey: 'k' };
const heard = { name: 'message', input: 'hello', createdAt: new Date(5) };

test('R-01 the event of a connector becomes one for the addressed instance, from that Connection', () => {
  const event = { ...heard, auth: { user: 'kim' }, metadata: { thread: 1 } };
  expect(addressEvent({ connection: 'chat', id: '1', event }, to, () => 'trace')).toEqual({
    id: expect.stringMatching(/^heard-[0-9a-f]{32}$/),
    type: 'message',
    input: 'hello',
    instanceKey: 'k',
    source: { kind: 'connector', name: 'chat' },
    auth: { user: 'kim' },
    metadata: { thread: 1 },
    traceId: 'trace',
    createdAt: new Date(5),
  });
});

test('the same id is the same event within one connection, and another event in another one', () => {
  const idOf = (connection: string, id: string) => addressEvent({ connection, id, event: heard }, to, () => 'trace').id;
  expect(idOf('chat', '1')).toBe(idOf('chat', '1'));
  expect(new Set([idOf('chat', '1'), idOf('chat', '2'), idOf('mail', '1'), idOf('chat1', '')]).size).toBe(4);
});

test('R-08 an event of an outside trace stays in that trace', () => {
  const event = { ...heard, traceId: 'a'.repeat(32) };
  const traceIdOf = (each: typeof heard) =>
    addressEvent({ connection: 'chat', id: '1', event: each }, to, () => 'made up').traceId;
  expect([traceIdOf(event), traceIdOf(heard)]).toEqual(['a'.repeat(32), 'made up']);
});

test('R-08 the parent span is used together with its trace, and ignored without one', () => {
  const span = { parentSpanId: 'b'.repeat(16), isSampled: false };
  const addressed = (event: typeof heard) => addressEvent({ connection: 'chat', id: '1', event }, to, () => 'made up');
  expect(addressed({ ...heard, ...span, traceId: 'a'.repeat(32) } as typeof heard)).toMatchObject(span);
  const alone = addressed({ ...heard, ...span });
  expect([alone.traceId, alone.parentSpanId, alone.isSampled]).toEqual(['made up', undefined, undefined]);
});
