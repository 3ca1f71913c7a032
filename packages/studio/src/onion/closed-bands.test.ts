import { describe, expect, test } from 'bun:test';
import type { Band, SpanBand } from './bands.ts';
import { chosenAtFirst, closedAtFirst, seenBands } from './closed-bands.ts';
import { type BandStep, stepToBand } from './step-to-band.ts';

const model = band('0.0.0', 'model');
const step = band('0.0', 'step', [model]);
const other = band('0.1', 'step');
const turn = band('0', 'turn', [step, other]);
const none = new Set<string>();
const withoutStep = new Set(['0.0']);

describe('closed bands', () => {
  test('hide their contents', () => {
    expect(seenBands(turn, none).map(({ id }) => id)).toEqual(['0', '0.0', '0.0.0', '0.1']);
    expect(seenBands(turn, withoutStep).map(({ id }) => id)).toEqual(['0', '0.0', '0.1']);
    expect(seenBands(turn, new Set(['0'])).map(({ id }) => id)).toEqual(['0']);
  });

  test('are none at first, except the steps of a long turn', () => {
    expect(closedAtFirst(turn).size).toBe(0);
    const steps = Array.from({ length: 80 }, (_, at) => band(`0.${at}`, 'step', [band(`0.${at}.0`, 'model')]));
    const long = band('0', 'turn', steps);
    expect(closedAtFirst(long).size).toBe(80);
    expect(seenBands(long, closedAtFirst(long))).toHaveLength(81);
    const failed = { ...long, inside: steps.with(0, { ...step, passedOn: true }) };
    expect(seenBands(failed, closedAtFirst(failed))).toContain(model);
  });
});

test.each([
  ['failed', none, '0.0.0'],
  ['failed', withoutStep, '0'],
  ['answered', none, '0'],
] as const)('of a turn that %s, without %p, %s is chosen at first', (ending, closed, id) => {
  const failing = (made: SpanBand, error: string) => ({ ...made, chain: { ...made.chain, error } });
  const inStep = { ...step, inside: [failing(model, 'No.')], passedOn: true };
  const inside = [inStep, failing(other, 'A tool failed, and the model knew.')];
  // The cast is safe: only the ending of the turn is read.
  const whole = { ...failing(turn, 'No.'), inside, passedOn: true, turn: { ending } } as unknown as SpanBand;
  expect(chosenAtFirst(whole, closed).id).toBe(id);
  const caller = failing({ ...whole, inside: [whole] }, 'E_AGENT_FAILED: Agent "helper" failed: No.');
  expect(chosenAtFirst(caller, closed).id).toBe(id);
});

describe('keys in the onion', () => {
  test.each([
    ['ArrowDown', turn, none, 'to 0.0'],
    ['ArrowDown', step, withoutStep, 'to 0.1'],
    ['ArrowUp', other, withoutStep, 'to 0.0'],
    ['ArrowUp', turn, none, undefined],
    ['ArrowRight', step, none, 'to 0.0.0'],
    ['ArrowRight', step, withoutStep, 'open 0.0'],
    ['ArrowRight', model, none, undefined],
    ['ArrowLeft', step, none, 'close 0.0'],
    ['ArrowLeft', step, withoutStep, 'to 0'],
    ['ArrowLeft', model, none, 'to 0.0'],
    [' ', step, none, 'close 0.0'],
    [' ', step, withoutStep, 'open 0.0'],
    [' ', model, none, undefined],
    ['Home', model, none, 'to 0'],
    ['End', turn, none, 'to 0.1'],
    ['x', turn, none, undefined],
  ])('%p', (key, from, closed, expected) => {
    expect(describeStep(stepToBand(seenBands(turn, closed), closed, from, key))).toBe(expected);
  });
});

function describeStep(made: BandStep | undefined): string | undefined {
  return made && Object.entries(made).map(([what, { id }]: [string, Band]) => `${what} ${id}`)[0];
}

function band(id: string, kind: SpanBand['kind'], inside: readonly Band[] = []): SpanBand {
  const chain = { kind, label: id, id, spanId: id, startMs: 0, totalMs: 1, layers: [], inside: [], called: [] };
  return { type: 'chain', id, kind, title: id, startMs: 0, totalMs: 1, passedOn: false, inside, chain, turnId: 't' };
}
