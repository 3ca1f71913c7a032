import { describe, expect, test } from 'bun:test';
import { GoondanError } from '@goondan/types';
import { connectorLanguage } from './codec.ts';
import { connectInMemory } from '../testing/connect-in-memory.ts';
import { acceptConnectorEvents, connectorEmitter, type EmitConnectorEvent } from './connector-events.ts';
import { until } from '../../../../test/until.ts';

const event = { name: 'message', input: 'hi', createdAt: new Date(0) };
const failure = (emitted: Promise<void>) =>
  emitted.then(
    () => 'accepted',
    (error: unknown) => error,
  );

function connect(accept: EmitConnectorEvent) {
  const [parent, child] = connectInMemory(connectorLanguage);
  acceptConnectorEvents(parent, accept);
  return { parent, child, emit: connectorEmitter(child) };
}

describe("a connector's event", () => {
  test('is accepted after the durable write, not before', async () => {
    const written = Promise.withResolvers<void>();
    const got: unknown[] = [];
    const { emit } = connect((id, each) => {
      got.push([id, each]);
      return written.promise;
    });
    let accepted = false;
    const emitted = emit('e-1', event).then(() => (accepted = true));
    await until(() => got.length > 0);
    expect(got).toEqual([['e-1', event]]);
    expect(accepted).toBe(false);
    written.resolve();
    expect(await emitted).toBe(true);
  });

  test('rejects with the reason when it is not accepted', async () => {
    const { emit } = connect(async () => {
      throw new GoondanError('E_INBOX_FULL', 'full', { retryable: true });
    });
    expect(await failure(emit('e-1', event))).toMatchObject({ code: 'E_INBOX_FULL', message: 'full', retryable: true });
  });

  test('gets its own answer, in any order', async () => {
    const writes = new Map<string, PromiseWithResolvers<void>>();
    const { emit } = connect((id) => {
      const write = Promise.withResolvers<void>();
      writes.set(id, write);
      return write.promise;
    });
    const emitted = ['a', 'b', 'c'].map((id) => failure(emit(id, event)));
    await until(() => writes.size === 3);
    writes.get('c')?.resolve();
    writes.get('a')?.reject(new Error('disk'));
    writes.get('b')?.resolve();
    const [a, b, c] = await Promise.all(emitted);
    expect([b, c]).toEqual(['accepted', 'accepted']);
    expect(a).toMatchObject({ code: 'E_EVENT_INVALID', message: 'disk' });
  });

  test('rejects when its answer cannot come any more', async () => {
    const asked = Promise.withResolvers<void>();
    const { parent, emit } = connect(() => {
      asked.resolve();
      return new Promise(() => undefined);
    });
    const emitted = failure(emit('e-1', event));
    await asked.promise;
    parent.close();
    expect(await emitted).toMatchObject({ code: 'E_IPC_CLOSED' });
    expect(await failure(emit('e-2', event))).toMatchObject({ code: 'E_IPC_CLOSED' });
  });

  test('rejects when it cannot be sent, and its id is free again', async () => {
    const { emit } = connect(async () => undefined);
    const malformed = { ...event, createdAt: new Date(NaN) };
    expect(await failure(emit('e-1', malformed))).toMatchObject({ code: 'E_IPC_FRAME' });
    expect(await failure(emit('e-1', event))).toBe('accepted');
  });
});
