import { describe, expect, spyOn, test } from 'bun:test';
import { countedIds } from '../testing/counted-ids.ts';
import { isSpanId, isTraceId, newTraceId, SpanIds } from './span-id.ts';

const traceId = '4bf92f3577b34da6a3ce929d0e0e4736';
const turn = { agentName: 'coder', instanceKey: 'room-1', turnId: 'turn-e1' };

describe('the ids of OpenTelemetry', () => {
  test('R-08 a new trace id is valid and unique', () => {
    const made = Array.from({ length: 1_000 }, () => newTraceId());
    expect(made.filter((id) => !isTraceId(id))).toEqual([]);
    expect(new Set(made).size).toBe(1_000);
  });

  test('a new trace id is as repeatable as the ids it is made from', () => {
    const make = () => {
      const ids = countedIds();
      return [newTraceId(ids), newTraceId(ids)];
    };
    expect(make()).toEqual(make());
    expect(new Set(make()).size).toBe(2);
  });

  test.each([
    [traceId, true],
    ['0'.repeat(31) + '1', true],
    ['0'.repeat(32), false],
    [traceId.toUpperCase(), false],
    [traceId.slice(1), false],
    [`${traceId}0`, false],
    [`${traceId.slice(1)}\n`, false],
    ['trace-1', false],
    ['', false],
    [undefined, false],
    [7, false],
  ])('R-08 %p is a trace id: %p', (value, expected) => {
    expect(isTraceId(value)).toBe(expected);
  });

  test.each([
    ['00f067aa0ba902b7', true],
    ['0'.repeat(16), false],
    [traceId, false],
    ['00F067AA0BA902B7', false],
    ['not a span', false],
    [undefined, false],
  ])('R-08 %p is a span id: %p', (value, expected) => {
    expect(isSpanId(value)).toBe(expected);
  });
});

describe('a span', () => {
  test('R-08 has the same id whenever and wherever it is computed', () => {
    const make = () => SpanIds.ofTurn(turn, { traceId }).inside('step-0').inside('call-1').fields;
    expect(make()).toEqual(make());
    // The ids are written out, because a turn that a later version resumes must keep its ids.
    expect(SpanIds.ofTurn(turn, { traceId }).fields).toEqual({ traceId, spanId: '16bb9c844ff88862' });
  });

  test('R-08 names its parent; a turn names the parent it was given', () => {
    const parentSpanId = '00f067aa0ba902b7';
    const asked = SpanIds.ofTurn(turn, { traceId, parentSpanId });
    expect(asked.fields).toEqual({ traceId, spanId: asked.spanId, parentSpanId });
    expect(asked.inside('step-0').fields).toMatchObject({ parentSpanId: asked.spanId });
    expect(SpanIds.ofTurn(turn, { traceId, parentSpanId: 'not a span' }).fields).not.toHaveProperty('parentSpanId');
  });

  test('R-08 has another id when any part of its place differs', () => {
    const turns = [
      SpanIds.ofTurn(turn, { traceId }),
      SpanIds.ofTurn(turn, { traceId: newTraceId() }),
      SpanIds.ofTurn({ ...turn, agentName: 'writer' }, { traceId }),
      SpanIds.ofTurn({ ...turn, instanceKey: 'room-2' }, { traceId }),
      SpanIds.ofTurn({ ...turn, turnId: 'turn-e2' }, { traceId }),
      SpanIds.ofTurn({ ...turn, agentName: 'coderroom-1', instanceKey: '' }, { traceId }),
    ];
    const spans = turns.flatMap((each) => [each, each.inside('a'), each.inside('b'), each.inside('a').inside('a')]);
    expect(new Set(spans.map(({ spanId }) => spanId)).size).toBe(spans.length);
    expect(spans.filter(({ spanId }) => !isSpanId(spanId))).toEqual([]);
  });

  test('computes its id when it is first read, and only once', () => {
    const hash = spyOn(Bun.CryptoHasher, 'hash');
    try {
      const step = SpanIds.ofTurn(turn, { traceId }).inside('step-0');
      expect(hash).toHaveBeenCalledTimes(0);
      expect([step.spanId, step.spanId, step.fields.spanId]).toEqual(Array(3).fill(step.spanId));
      expect(hash).toHaveBeenCalledTimes(2);
    } finally {
      hash.mockRestore();
    }
  });
});
