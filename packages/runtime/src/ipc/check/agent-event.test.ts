import { expect, test } from 'bun:test';
import { agentEvent } from './agent-event.ts';

const event = {
  id: 'e',
  type: 'agent.message',
  instanceKey: 'default',
  source: { kind: 'agent', name: 'a' },
  traceId: 't',
  createdAt: new Date(0),
};

test('Y-01 the demand of an event is carried, and a frame with a schema that cannot be used is refused', () => {
  const output = { schema: { type: 'object' }, retries: 1 };
  expect(agentEvent({ ...event, output })).toEqual({ ...event, output } as never);
  for (const forged of [{ schema: { nope: 1 } }, { schema: { type: 'object' }, retries: 99 }, { schema: 1 }, {}]) {
    expect(() => agentEvent({ ...event, output: forged })).toThrow('output');
  }
});
