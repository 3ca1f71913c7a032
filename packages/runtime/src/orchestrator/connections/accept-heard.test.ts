import { describe, expect, test } from 'bun:test';
import { type AgentAddress, type AgentEvent, GoondanError } from '@goondan/types';
import type { ConnectionPlan } from '../../config/swarm-plan.ts';
import { fakeConnection, fakeIngress } from '../../testing/fake-connection.ts';
import { acceptHeard } from './accept-heard.ts';

const plan = fakeConnection('inbound', {
  events: ['message', 'joined'],
  rules: [{ match: { event: 'message' }, route: { instanceKeyProperty: 'chat' } }],
});

const heard = { name: 'message', input: 'hi', properties: { chat: 'kim' }, createdAt: new Date(7) };

function open(over: Partial<ConnectionPlan> = {}, write: () => Promise<void> = async () => undefined) {
  const accepted: [AgentAddress, AgentEvent][] = [];
  const ingress = fakeIngress({
    accept: async (to, event) => {
      accepted.push([to, event]);
      await write();
    },
  });
  return { accept: acceptHeard({ ...plan, ...over }, ingress), accepted };
}

const codeOf = (accepting: Promise<void>) =>
  accepting.then(
    () => 'accepted',
    (error: unknown) => (error instanceof GoondanError ? error.code : error),
  );

describe('an event of a connector', () => {
  test('R-01 R-08 goes to the target of the rules, from its connection, with a trace of its own', async () => {
    const { accept, accepted } = open();
    await accept('delivery-1', heard);
    expect(accepted).toEqual([
      [
        { agentName: 'coder', instanceKey: 'kim' },
        {
          id: expect.stringMatching(/^heard-[0-9a-f]{32}$/),
          type: 'message',
          input: 'hi',
          instanceKey: 'kim',
          source: { kind: 'connector', name: 'inbound' },
          traceId: 'f'.repeat(32),
          createdAt: new Date(7),
        },
      ],
    ]);
  });

  test('is accepted after the write, and rejected when the write fails', async () => {
    const written = Promise.withResolvers<void>();
    const { accept } = open({}, () => written.promise);
    let outcome: unknown;
    const accepting = codeOf(accept('delivery-1', heard)).then((each) => (outcome = each));
    await Bun.sleep(5);
    expect(outcome).toBeUndefined();
    written.reject(new GoondanError('E_DISK_FULL', 'full'));
    expect(await accepting).toBe('E_DISK_FULL');
  });

  test.each([
    ['E_CONNECTOR_EVENT', { ...heard, name: 'left' }],
    ['E_INGRESS_RULE', { ...heard, name: 'joined' }],
    ['E_INGRESS_KEY', { ...heard, properties: {} }],
  ])('is rejected with %s, and reaches no agent', async (code, event) => {
    const { accept, accepted } = open();
    expect(await codeOf(accept('delivery-1', event))).toBe(code);
    expect(accepted).toEqual([]);
  });

  test('may have any name when the connector declares none', async () => {
    const { events: _, ...undeclared } = plan;
    const accept = acceptHeard({ ...undeclared, rules: [{ route: {} }] }, fakeIngress());
    expect(await codeOf(accept('1', { ...heard, name: 'anything' }))).toBe('accepted');
  });

  test('is rejected as retryable while a thousand others wait', async () => {
    const written = Promise.withResolvers<void>();
    const { accept } = open({}, () => written.promise);
    // A rejected event does not count for the limit of waiting events.
    expect(await codeOf(accept('refused', { ...heard, name: 'left' }))).toBe('E_CONNECTOR_EVENT');
    const waiting = Array.from({ length: 1_000 }, (_, n) => accept(`${n}`, heard));
    expect(await accept('more', heard).catch((error: unknown) => error)).toMatchObject({
      code: 'E_IPC_FULL',
      retryable: true,
    });
    written.resolve();
    await Promise.all(waiting);
    expect(await codeOf(accept('more', heard))).toBe('accepted');
  });
});
