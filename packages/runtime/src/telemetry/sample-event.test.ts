import { describe, expect, test } from 'bun:test';
import type { AgentEvent } from '@goondan/types';
import { readSampler } from './read-sampler.ts';
import { sampleEvent } from './sample-event.ts';

const parentSpanId = 'b7ad6b7169203331';
const low = '0af7651916cd43dd0000000000000001';
const high = '0af7651916cd43ddffffffffffffffff';

function eventOf(more: Partial<AgentEvent> = {}): AgentEvent {
  const source = { kind: 'connector', name: 'door' } as const;
  return { id: 'e', type: 'user.message', instanceKey: 'k', source, traceId: high, createdAt: new Date(0), ...more };
}

/** Tells whether the spans of an event would be exported. */
function isSampled(sampler: string, more: Partial<AgentEvent> = {}, share = ''): boolean {
  const environment = { OTEL_TRACES_SAMPLER: sampler, OTEL_TRACES_SAMPLER_ARG: share };
  const warnings: string[] = [];
  const decided = sampleEvent(
    eventOf(more),
    readSampler(environment, (warning) => warnings.push(warning)),
  );
  expect(warnings).toEqual([]);
  return decided.isSampled ?? true;
}

describe('sampling', () => {
  const fromNobody = {};
  const fromSampled = { parentSpanId };
  const fromUnsampled = { parentSpanId, isSampled: false };

  test.each([
    ['', [true, true, false]],
    ['parentbased_always_on', [true, true, false]],
    ['parentbased_always_off', [false, true, false]],
    ['always_on', [true, true, true]],
    ['Always_Off', [false, false, false]],
  ])('%p: without a caller, with one that samples, with one that does not: %p', (sampler, expected) => {
    expect([fromNobody, fromSampled, fromUnsampled].map((event) => isSampled(sampler, event))).toEqual(expected);
  });

  test('a share of the traces depends on their ids alone; a larger share includes a smaller one', () => {
    const ids = Array.from({ length: 1_000 }, () => crypto.randomUUID().replaceAll('-', ''));
    const sampled = (share: string) => ids.filter((traceId) => isSampled('traceidratio', { traceId }, share));
    const [none, tenth, half, all] = ['0', '0.1', '0.5', '1'].map(sampled);
    expect([none?.length, all?.length]).toEqual([0, 1_000]);
    expect(half?.length).toBeWithin(400, 600);
    expect(tenth?.length).toBeWithin(50, 150);
    expect(half).toEqual(expect.arrayContaining(tenth ?? []));
  });

  test('a share follows the caller only when configured to', () => {
    expect(isSampled('parentbased_traceidratio', { ...fromSampled, traceId: low }, '0.5')).toBe(true);
    expect(isSampled('traceidratio', { ...fromSampled, traceId: low }, '0.5')).toBe(false);
    expect(isSampled('traceidratio', { ...fromUnsampled, traceId: high }, '0.5')).toBe(true);
  });

  test('an invalid trace id from a sender is sampled, too', () => {
    expect(isSampled('traceidratio', { traceId: 'order 7' }, '1')).toBe(true);
    expect(isSampled('traceidratio', { traceId: 'order 7' }, '0')).toBe(false);
  });

  test('an event of an agent keeps the decision of its trace', () => {
    const source = { kind: 'agent', name: 'front' } as const;
    expect(isSampled('always_off', { source })).toBe(true);
    expect(isSampled('always_on', { source, isSampled: false })).toBe(false);
  });
});

test.each([
  [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, { share: 1, asksCaller: true }, 'OTEL_TRACES_SAMPLER is "jaeger_remote"'],
  [{ OTEL_TRACES_SAMPLER: 'parentbased_xray' }, { share: 1, asksCaller: true }, 'OTEL_TRACES_SAMPLER is'],
  ...['2', '-1', 'x', 'NaN'].map(
    (share) =>
      [
        { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: share },
        { share: 1, asksCaller: false },
        'OTEL_TRACES_SAMPLER_ARG is not a number from 0 to 1',
      ] as const,
  ),
] as const)('a wrong value %p is reported, and the safe default is used', (environment, expected, warning) => {
  const warnings: string[] = [];
  expect(readSampler(environment, (text) => warnings.push(text))).toEqual(expected);
  expect(warnings).toEqual([expect.stringContaining(warning)]);
});
