import { describe, expect, test } from 'bun:test';
import type { JsonObject } from '@goondan/types';
import type { HeardEvent } from '../../ipc/from-connector.ts';
import type { IngressRule } from '../../config/ingress-rule.ts';
import { routeEvent, type RoutedEvent } from './route-event.ts';

const heard = (name: string, properties?: JsonObject): HeardEvent => ({
  name,
  createdAt: new Date(0),
  ...(properties === undefined ? {} : { properties }),
});

const address = (agentName: string, instanceKey: string): RoutedEvent => ({
  type: 'address',
  address: { agentName, instanceKey },
});

const route = (rules: readonly IngressRule[], event: HeardEvent) => routeEvent(rules, event, 'entry');
const problem = (routed: RoutedEvent) => (routed.type === 'refusal' ? routed.error : undefined);

describe('the rules of a connection', () => {
  test('R-01 the first matching rule decides', () => {
    const rules: IngressRule[] = [
      { match: { event: 'message', properties: { kind: 'bug' } }, route: { agentRef: 'Agent/fixer' } },
      { match: { event: 'message' }, route: { agentRef: { kind: 'Agent', name: 'helper' } } },
      { route: {} },
    ];
    expect(route(rules, heard('message', { kind: 'bug' }))).toEqual(address('fixer', 'default'));
    expect(route(rules, heard('message', { kind: 'praise' }))).toEqual(address('helper', 'default'));
    expect(route(rules, heard('message'))).toEqual(address('helper', 'default'));
    expect(route(rules, heard('joined'))).toEqual(address('entry', 'default'));
  });

  test('all properties of a match must be equal, including their type', () => {
    const rules: IngressRule[] = [{ match: { properties: { room: 7, open: true } }, route: {} }];
    expect(route(rules, heard('x', { room: 7, open: true, more: 1 })).type).toBe('address');
    expect(route(rules, heard('x', { room: '7', open: true })).type).toBe('refusal');
    expect(route(rules, heard('x', { room: 7 })).type).toBe('refusal');
  });

  test('an event without a matching rule is rejected with a code and its name', () => {
    for (const rules of [[], [{ match: { event: 'other' }, route: {} }]]) {
      expect(problem(route(rules, heard('message')))).toEqual({
        code: 'E_INGRESS_RULE',
        message: 'No ingress rule matches the event "message".',
      });
    }
  });
});

describe('R-01 the instance key', () => {
  const byChat: IngressRule[] = [{ route: { instanceKeyProperty: 'chat', instanceKeyPrefix: 'telegram:' } }];

  test('is the text of the rule, or the property it names, with the prefix', () => {
    expect(route([{ route: { instanceKey: 'office' } }], heard('x'))).toEqual(address('entry', 'office'));
    expect(route(byChat, heard('x', { chat: '42' }))).toEqual(address('entry', 'telegram:42'));
    expect(route(byChat, heard('x', { chat: 42 }))).toEqual(address('entry', 'telegram:42'));
    expect(route([{ route: { instanceKeyProperty: 'chat' } }], heard('x', { chat: '한글/..' }))).toEqual(
      address('entry', '한글/..'),
    );
  });

  test('is never taken from another part of the event', () => {
    const event = { ...heard('x', { instanceKey: 'admin' }), instanceKey: 'admin', metadata: { instanceKey: 'admin' } };
    expect(route([{ route: {} }], event)).toEqual(address('entry', 'default'));
    expect(route([{ route: { instanceKey: 'mine' } }], event)).toEqual(address('entry', 'mine'));
  });

  test.each<[string, JsonObject]>([
    ['missing', {}],
    ['empty', { chat: '' }],
    ['an object', { chat: { id: 1 } }],
    ['null', { chat: null }],
    ['a flag', { chat: true }],
    ['a fraction', { chat: 1.5 }],
    ['too large a number', { chat: 2 ** 53 }],
    ['too long', { chat: 'k'.repeat(1_025) }],
    ['too long with its prefix', { chat: 'k'.repeat(1_024) }],
    ['half a character', { chat: '\uDC00' }],
  ])('%s is rejected, and no later rule gets the event', (_, properties) => {
    const refused = problem(route([...byChat, { route: {} }], heard('message', properties)));
    expect(refused?.code).toBe('E_INGRESS_KEY');
    expect(refused?.message).toContain('"message"');
    expect(refused?.message).toContain('"chat"');
  });

  test('properties that every object inherits do not count', () => {
    const rules: IngressRule[] = [{ route: { instanceKeyProperty: 'constructor' } }];
    expect(problem(route(rules, heard('x', {})))?.code).toBe('E_INGRESS_KEY');
    expect(route([{ match: { properties: { toString: 'x' } }, route: {} }], heard('x', {})).type).toBe('refusal');
  });
});
