import { expect, test } from 'bun:test';
import { madeLayer, madeRecord } from '../testing/made-trace.ts';
import { hasPassedOn } from './passed-on.ts';
import type { ChainRecord, LayerRecord, TurnTrace } from './turn-trace.ts';

const error = 'E_MODEL_FAILED: no';
const failed = (extension: string, more: Partial<LayerRecord> = {}) =>
  madeLayer(extension, { outcome: 'failed', error, ...more });
const place = { file: 'a.ts', line: 1, column: 2 };
const model = madeRecord('model', 'Model/main', { error });
const called = [{ chain: model } as TurnTrace]; // Only the chain is read.
const its = { error: 'E_AGENT_FAILED: Agent "helper" failed (E_MODEL_FAILED): no' };
const around = (layers: readonly LayerRecord[], more: Partial<ChainRecord> = {}) =>
  madeRecord('step', '0', { error, layers, ...more });

/** The parts in which the error began. */
function origins(chain: ChainRecord): string[] {
  const layers = chain.layers.filter((layer) => layer.error !== undefined && !hasPassedOn(chain, layer));
  return [
    ...(chain.error === undefined || hasPassedOn(chain) ? [] : ['core']),
    ...layers.map((each) => each.extension),
  ];
}

test.each<[string, ChainRecord, string[]]>([
  ['the core', around([failed('a'), failed('b')]), ['core']],
  ['something inside the core', around([failed('a'), failed('b')], { inside: [model] }), []],
  ['a called agent', around([failed('a', its), failed('b', { ...its, isBeforeNext: true })], { called, ...its }), []],
  ['a tool, after a called agent failed', around([failed('a')], { called }), ['core']],
  ['a layer before next()', around([failed('a'), failed('b', { isBeforeNext: true })]), ['b']],
  ['a layer whose code threw', around([failed('a'), failed('b', { place })]), ['b']],
  ['a layer around one that passed', around([failed('a'), failed('b'), madeLayer('c')]), ['b']],
  ['a layer after the result of the core', around([failed('a', { isAfterNext: true })]), ['a']],
  [
    'the core, below a skipped layer',
    around([failed('a'), failed('b', { outcome: 'skipped', error: 'x' })]),
    ['core', 'b'],
  ],
  ['a layer that names another error', around([failed('a', { error: 'E_X' }), failed('b')], { error: 'E_X' }), ['a']],
  ['nothing: the chain passed', madeRecord('step', '0', { layers: [madeLayer('a')], inside: [model] }), []],
])('the error of a chain began in %s', (_where, chain, expected) => {
  expect(origins(chain)).toEqual(expected);
});
