import { describe, expect, test } from 'bun:test';
import type { AgentEvent } from '@goondan/types';
import { scriptedAgent } from '../../testing/index.ts';
import { checkAgentEvent } from './check-agent-event.ts';

const whole: AgentEvent = {
  id: 'e1',
  type: 'user.message',
  input: 'hello',
  instanceKey: 'default',
  source: { kind: 'cli', name: 'gdn' },
  auth: { user: 'mina' },
  replyTo: { target: 'boss', correlationId: 'c1' },
  metadata: { thread: { id: 1 } },
  traceId: 'trace-1',
  createdAt: new Date('2026-01-02T03:04:05.000Z'),
};
const { input: _input, auth: _auth, replyTo: _replyTo, metadata: _metadata, ...smallest } = whole;

/** Returns the event with one field set, or removed if the value is `undefined`. */
function withField(field: string, value: unknown): AgentEvent {
  return { ...whole, [field]: value };
}

describe('an agent event', () => {
  test.each([
    ['with every field', whole],
    ['with only the required fields', smallest],
    ['from a connector', { ...smallest, source: { kind: 'connector', name: 'telegram' } }],
    ['from an agent', { ...smallest, source: { kind: 'agent', name: 'coder' } }],
  ] as const)('C-10 %s is accepted unchanged', (_title, event) => {
    const checked = checkAgentEvent(event, 'default');
    expect(checked).toEqual(event);
    expect(checked).not.toBe(event);
    expect(checked).toSatisfy(Object.isFrozen);
  });

  test.each<[problem: string, field: string, value: unknown]>([
    ['id is not a text', 'id', undefined],
    ['id is not a text', 'id', ''],
    ['type is not a text', 'type', 7],
    ['instanceKey is not a text', 'instanceKey', null],
    ['instanceKey is "other", but this instance is "default"', 'instanceKey', 'other'],
    ['traceId is not a text', 'traceId', undefined],
    ['input is not a text', 'input', 42],
    ['content is not a list of parts', 'content', 'hello'],
    ['createdAt is not a valid Date', 'createdAt', '2026-01-02'],
    ['createdAt is not a valid Date', 'createdAt', new Date('nonsense')],
    ['source.kind is not one of agent, connector, cli', 'source', undefined],
    ['source.kind is not one of agent, connector, cli', 'source', null],
    ['source.kind is not one of agent, connector, cli', 'source', { kind: 'root', name: 'x' }],
    ['source.name is not a text', 'source', { kind: 'cli' }],
    ['auth: the value is a string, not an object', 'auth', 'mina'],
    ['auth: key is a function, which JSON cannot represent', 'auth', { key: () => 1 }],
    ['metadata: the value is an array, not an object', 'metadata', [1]],
    ['metadata: when is a Date, not a plain object', 'metadata', { when: new Date(0) }],
    ['replyTo.correlationId is not a text', 'replyTo', { target: 'boss' }],
    ['replyTo.target is not a text', 'replyTo', { correlationId: 'c1' }],
  ])('C-10 is refused when %s', (problem, field, value) => {
    expect(() => checkAgentEvent(withField(field, value), 'default')).toThrow(
      expect.objectContaining({ code: 'E_EVENT_INVALID', message: `Not an agent event: ${problem}.` }),
    );
  });

  test.each([undefined, null, 'hello', 7])('C-10 is refused with a code when it is %p', (event) => {
    // The cast is wrong on purpose, because types do not check embedders in plain JavaScript.
    expect(() => checkAgentEvent(event as unknown as AgentEvent, 'default')).toThrow(
      expect.objectContaining({ code: 'E_EVENT_INVALID' }),
    );
  });

  test('changes nothing when it is refused: no turn, no message', async () => {
    const agent = await scriptedAgent();
    const refused = agent.agent.handle(withField('createdAt', 'now'));
    expect(await refused.catch((error: unknown) => error)).toMatchObject({ code: 'E_EVENT_INVALID' });
    expect(await agent.messages()).toEqual([]);
    expect(agent.told).toEqual([]);
    expect((await agent.say('hello')).text).toBe('You said: hello');
  });
});
