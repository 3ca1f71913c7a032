import { expect, test } from 'bun:test';
import { fakeEvent } from '../../testing/fake-swarm.ts';
import { stampEvent } from '../calls/stamp-event.ts';
import { rootOf } from './root-of.ts';

const first = {
  ...fakeEvent('Hi.', { id: 'heard-1' }),
  source: { kind: 'connector', name: 'door' } as const,
  auth: { client: 'ci' },
};
const call = (kind: 'request' | 'send', event: object = {}) =>
  ({
    type: 'call',
    kind,
    to: { agentName: 'other', instanceKey: 'k' },
    event: { ...fakeEvent('Hi.', { id: 'own' }), ...event },
  }) as unknown as Parameters<typeof stampEvent>[2];
const caller = { agentName: 'first', instanceKey: 'k' };

test('N-04 the root of all work is the event of the Connection, whatever agents send in their frames', () => {
  const root = { connection: 'door', eventId: 'heard-1' };
  expect(rootOf(first)).toEqual(root);
  expect(rootOf({ ...first, root: { connection: 'other', eventId: 'x' } })).toEqual(root);
  const forged = { root: { connection: 'other', eventId: 'x' }, source: { kind: 'connector', name: 'other' } };
  const second = stampEvent(caller, first, call('request', forged), new Date(0));
  const third = stampEvent(caller, second, call('send', forged), new Date(0));
  expect([rootOf(second), rootOf(third)]).toEqual([root, root]);
  expect(third.auth).toEqual({ client: 'ci' });
});

test('N-04 work of a client of the control socket has no root, whatever its trace is', () => {
  const event = {
    ...fakeEvent('Hi.', { id: 'typed' }),
    source: { kind: 'cli', name: 'control' } as const,
    traceId: first.traceId,
  };
  expect(rootOf(event)).toBeUndefined();
  expect(rootOf(stampEvent(caller, event, call('request'), new Date(0)))).toBeUndefined();
});
