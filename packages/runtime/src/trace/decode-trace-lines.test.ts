import { describe, expect, test } from 'bun:test';
import fc from 'fast-check';
import type { MiddlewareKind } from '@goondan/types';
import { samples } from '../../../../test/samples.ts';
import { madeLayer, madeRecord } from '../testing/made-trace.ts';
import { assembleTrace } from './assemble-trace.ts';
import { assembleTurn } from './assemble-turn.ts';
import { decodeTraceLines } from './decode-trace-lines.ts';
import { encodeTraceLine } from './encode-trace-line.ts';
import { renderMermaid } from './render-mermaid.ts';
import { renderTrace } from './render-trace.ts';
import type { TraceLine } from './trace-lines.ts';
import type { ChainRecord } from './turn-trace.ts';

const time = '1970-01-01T00:00:01.000Z';
const ids = {
  turnId: 'turn-1',
  agentName: 'host',
  instanceKey: 'default',
  traceId: 'a'.repeat(32),
  spanId: 'b'.repeat(16),
};
const chain = (kind: MiddlewareKind, more: Partial<ChainRecord> = {}) => {
  const busy = madeLayer('guard', { changed: [{ path: 'x', before: '1', after: '2' }], emitted: ['append user 1'] });
  return madeRecord(kind, kind, { totalMs: 1, layers: [busy, madeLayer('idle')], ...more });
};
const start: TraceLine = {
  type: 'start',
  time,
  ...ids,
  source: { kind: 'cli', name: 'control' },
  input: 'Hi',
};
const end: TraceLine = { type: 'end', time, durationMs: 5, finishReason: 'error', stepCount: 1, error: 'E_X: no' };
const lines: readonly TraceLine[] = [
  start,
  { type: 'chain', n: 0, chain: chain('turn', { error: 'E_X: no' }) },
  { type: 'chain', n: 1, parent: 0, chain: chain('step', { plan: 'a'.repeat(64) }) },
  {
    type: 'chain',
    n: 2,
    parent: 1,
    chain: chain('model', { tokens: { input: 1, output: 2 }, outcome: 'stop', effect: '0/model' }),
  },
  {
    type: 'effect',
    key: '0/model',
    kind: 'model',
    asked: { modelRef: 'Model/m', params: {}, tools: {}, messages: { count: 1, digest: 'd', shown: {} } },
    request: {
      provider: 'anthropic',
      package: '@ai-sdk/anthropic@4.0.0',
      model: 'claude',
      bodyDigest: 'e'.repeat(64),
      references: { after: { effect: '0/model', count: 1 }, more: [{ id: 'm', digest: 'f' }, { digest: 'a' }] },
      parts: { a: { role: 'system', content: 'Be brief.' } },
    },
  },
  { type: 'dropped', count: 2 },
  end,
];
const write = (...written: readonly unknown[]) => written.map((line) => `${JSON.stringify(line)}\n`).join('');

test('encodeTraceLine leaves out empty lists and the chains inside', () => {
  const idle = madeRecord('step', '0', { layers: [madeLayer('idle')], inside: [chain('model')] });
  const encoded = JSON.parse(encodeTraceLine({ type: 'chain', n: 1, parent: 0, chain: idle })) as unknown;
  const layers = [{ extension: 'idle', name: 'step', kind: 'step', startMs: 0, ownMs: 1, totalMs: 2 }];
  const written = { kind: 'step', label: '0', id: '0', spanId: 'span of 0', startMs: 0, totalMs: 2, layers };
  expect(encoded).toEqual({ type: 'chain', n: 1, parent: 0, chain: written });
});

describe('decodeTraceLines', () => {
  test('returns the lines that were written', () => {
    expect(decodeTraceLines(lines.map(encodeTraceLine).join('\n'))).toEqual([...lines]);
  });

  test.each(['{', 'null', '7', '{"type":"start"}', '{"type":7}', '{"type":"chain","n":1,"chain":null}'])(
    'counts %p between others as one missing line',
    (text) => {
      expect(decodeTraceLines(`${write(start)}${text}\n${write(end)}`)).toEqual([
        start,
        { type: 'dropped', count: 1 },
        end,
      ]);
    },
  );

  const answer = { decision: 'approved' };
  test.each([
    ...[{ waitedMs: 'x' }, { askedMs: 'x' }, { answers: 'x' }, { answers: [{}] }],
    ...['kind', 'by', 'via', 'question', 'grant', 'args', 'before'].map((key) => ({
      answers: [{ ...answer, [key]: 5 }],
    })),
    { answers: [{ ...answer, afterMs: 'x' }] },
  ])('counts a chain with a wrong wait for a person as missing: %j', (wrong) => {
    const damaged = { type: 'chain', n: 0, chain: { ...chain('toolCall'), ...wrong } };
    expect(decodeTraceLines(write(start, damaged, end))).toEqual([start, { type: 'dropped', count: 1 }, end]);
  });

  test('counts the rest of a line after a crash as missing', () => {
    const resumed: TraceLine = { ...start, resumed: true };
    const dropped: TraceLine = { type: 'dropped', count: 1 };
    expect(decodeTraceLines(`${write(start)}{"type":"ch\n${write(resumed)}`)).toEqual([start, dropped, resumed]);
  });

  test('skips an incomplete last line, and counts a line of an unknown type as missing', () => {
    expect(decodeTraceLines(`${write(start)}{"type":"ch`)).toEqual([start]);
    const dropped: TraceLine = { type: 'dropped', count: 1 };
    expect(decodeTraceLines(write(start, { type: 'other', n: 1 }, end))).toEqual([start, dropped, end]);
  });
});

test('after any damage to a line, shows the rest and counts the missing lines', () => {
  const wrong = fc.constantFrom<unknown>(null, 0, -1, 'x', [], {}, true, [null], [{}], 1e308);
  const choices = fc.infiniteStream(fc.nat(1_000));
  fc.assert(
    fc.property(choices, wrong, fc.nat(lines.length - 1), (next, value, at) => {
      const choose = (most: number) => Number(next.next().value) % most;
      const damaged = lines.map((line, index) => (index === at ? damage(line, value, choose) : line));
      const turn = assembleTurn(decodeTraceLines(write(...damaged)));
      if (turn === undefined) return;
      JSON.stringify(turn);
      const shown = assembleTrace([turn]);
      expect(typeof renderMermaid(shown)).toBe('string');
      for (const isFull of [true, false]) for (const each of shown) renderTrace(each, { isFull });
    }),
    { numRuns: samples(2_000) },
  );
});

/** Returns a copy in which one part is removed, or replaced with `value`. */
function damage(whole: unknown, value: unknown, choose: (most: number) => number): unknown {
  if (typeof whole !== 'object' || whole === null || choose(8) === 0) return value;
  const entries = Object.entries(whole);
  const [name] = entries[choose(Math.max(1, entries.length))] ?? [];
  const changed = entries.flatMap(([key, held]) => {
    if (key !== name) return [[key, held] as const];
    return choose(5) === 0 ? [] : [[key, damage(held, value, choose)] as const];
  });
  return Array.isArray(whole) ? changed.map(([, held]) => held) : Object.fromEntries(changed);
}
