import { describe, expect, test } from 'bun:test';
import { madeRecord as chain, madeLayer } from '../../../runtime/src/testing/made-trace.ts';
import type { ChainRecord, TurnTrace } from '@goondan/cli/studio';
import { type Band, bandsOf, countChanges, listBands } from './bands.ts';

const layer = (extension: string, name = 'step') => madeLayer(extension, { name });

describe('the bands of a turn', () => {
  const asked = turn(
    'forecaster',
    '2026-01-01T00:00:00.030Z',
    chain('turn', 'forecaster', { layers: [layer('guard')] }),
  );
  const call = chain('toolCall', 'agents__request', { startMs: 20, called: [asked] });
  const model = chain('model', 'Model/a', { startMs: 10 });
  const step = chain('step', '0', {
    startMs: 5,
    layers: [layer('outer'), layer('inner', 'named')],
    inside: [model, call],
  });
  const whole = bandsOf(
    turn(
      'concierge',
      '2026-01-01T00:00:00.000Z',
      chain('turn', 'concierge', { layers: [layer('memory')], inside: [step] }),
    ),
  );

  test('layers contain layers, the innermost contains the core, a call contains the turn of the called agent', () => {
    expect(shape(whole)).toEqual({
      concierge: {
        memory: {
          'step 1': { outer: { 'inner · named': { 'Model/a': {}, agents__request: { forecaster: { guard: {} } } } } },
        },
      },
    });
  });

  test('each has its own id, and a start on one clock', () => {
    const all = listBands(whole);
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length);
    const starts = Object.fromEntries(all.map(({ title, startMs }) => [title, startMs]));
    expect(starts).toMatchObject({ concierge: 0, 'step 1': 5, 'Model/a': 10, agents__request: 20, forecaster: 30 });
  });

  test('inner bands are in the order in which they started, across agents', () => {
    const late = chain('model', 'late', { startMs: 45 });
    const both = chain('turn', 'x', { inside: [late], called: [asked] });
    const titles = bandsOf(turn('x', '2026-01-01T00:00:00.000Z', both)).inside.map(({ title }) => title);
    expect(titles).toEqual(['forecaster', 'late']);
  });

  test('a band that failed with the error of a band inside it has passed it on', () => {
    const failed = { error: 'No.', layers: [{ ...layer('a'), outcome: 'failed', error: 'No.' } as const] };
    const inside = chain('step', '0', { ...failed, inside: [chain('model', 'Model/a', failed)] });
    const bands = listBands(
      bandsOf(turn('x', '2026-01-01T00:00:00.000Z', chain('turn', 'x', { ...failed, inside: [inside] }))),
    );
    expect(bands.filter(({ passedOn }) => !passedOn).map(({ title }) => title)).toEqual(['Model/a']);
  });

  test('the changes of a layer are counted', () => {
    const busy = { ...layer('x'), changed: [{ path: 'a' }], emitted: ['append'], emittedMore: 2 };
    expect(countChanges(busy)).toBe(4);
    expect(countChanges(layer('x'))).toBe(0);
  });
});

type Shape = { readonly [title: string]: Shape };

function shape(band: Band): Shape {
  const inside = band.inside.reduce<Shape>((all, each) => ({ ...all, ...shape(each) }), {});
  return { [band.title]: inside };
}

function turn(agentName: string, startedAt: string, of: ChainRecord): TurnTrace {
  return {
    agentName,
    instanceKey: 'default',
    turnId: agentName,
    traceId: 't',
    spanId: 's',
    source: { kind: 'cli', name: 'gdn' },
    startedAt,
    resumes: 0,
    chain: of,
    missing: { chains: 0, lines: 0, isCut: false },
  };
}
