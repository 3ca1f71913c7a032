import { expect, test } from 'bun:test';
import fc from 'fast-check';
import type { Tier } from '../../config/declared-extension.ts';
import { type Layer, sortLayers } from './layer.ts';

function layer(name: string, priority = 0, tier: Tier = 'agent'): Layer {
  return {
    kind: 'step',
    extension: name,
    name,
    tier,
    priority,
    run: () => undefined,
    mayShortCircuit: false,
    timeoutMs: undefined,
    onError: 'fail',
    buffers: false,
  };
}

const tiers = fc.constantFrom<Tier>('swarm', 'agent', 'innermost', 'hook');
/** There are only a few priorities, so that equal priorities are common. */
const manyLayers = fc
  .array(fc.record({ priority: fc.integer({ min: -2, max: 2 }), tier: tiers }), { maxLength: 30 })
  .map((all) => all.map(({ priority, tier }, index) => layer(`layer-${index}`, priority, tier)));

const names = (layers: readonly Layer[]) => layers.map(({ name }) => name);

test('P-04 the first registered is outermost', () => {
  expect(names(sortLayers([layer('a'), layer('b'), layer('c')]))).toEqual(['a', 'b', 'c']);
});

test('P-05 A(10), B(5), C(10) runs B, A, C', () => {
  expect(names(sortLayers([layer('A', 10), layer('B', 5), layer('C', 10)]))).toEqual(['B', 'A', 'C']);
});

test('P-05 a layer without a priority has 0: negative is further out, positive further in', () => {
  expect(names(sortLayers([layer('in', 1), layer('none'), layer('out', -1)]))).toEqual(['out', 'none', 'in']);
});

test('P-05 swarm-wide layers are outside the agent’s own and hooks inside, whatever their priorities', () => {
  const layers = [layer('hook', -100, 'hook'), layer('own', 0), layer('swarm', 100, 'swarm')];
  expect(names(sortLayers(layers))).toEqual(['swarm', 'own', 'hook']);
});

test('P-05 innermost extensions are inside the others, in the order of their list, whatever the priorities', () => {
  const of = (extension: string, each: Layer): Layer => ({ ...each, extension });
  const layers = [
    of('first', layer('first-inner', 5, 'innermost')),
    of('first', layer('first-outer', -5, 'innermost')),
    of('second', layer('second', -100, 'innermost')),
    layer('hook', -200, 'hook'),
    layer('own', 100),
    layer('swarm', 200, 'swarm'),
  ];
  expect(names(sortLayers(layers))).toEqual(['swarm', 'own', 'first-outer', 'first-inner', 'second', 'hook']);
});

test('P-05 layers are sorted by tier, then priority, then registration; the input array stays unchanged', () => {
  const order: Record<Tier, number> = { swarm: 0, agent: 1, innermost: 2, hook: 3 };
  fc.assert(
    fc.property(manyLayers, (layers) => {
      const before = names(layers);
      const sorted = sortLayers(layers);
      const place = new Map(layers.map((each, index) => [each, index]));
      // Each layer is of another extension, so the order of innermost layers is that of their registration.
      const rankOf = ({ tier, priority }: Layer) => (tier === 'innermost' ? 0 : priority);
      const rank = (each: Layer) => [order[each.tier], rankOf(each), place.get(each) ?? -1];
      for (const [index, outer] of sorted.entries()) {
        const inner = sorted[index + 1];
        if (inner !== undefined) expect(isBefore(rank(outer), rank(inner))).toBe(true);
      }
      expect(new Set(sorted)).toEqual(new Set(layers));
      expect(names(layers)).toEqual(before);
    }),
  );
});

test('P-06 the same layers are sorted the same way every time', () => {
  fc.assert(
    fc.property(manyLayers, (layers) => {
      expect(names(sortLayers([...layers]))).toEqual(names(sortLayers(layers)));
      expect(names(sortLayers(sortLayers(layers)))).toEqual(names(sortLayers(layers)));
    }),
  );
});

function isBefore(a: readonly number[], b: readonly number[]): boolean {
  const differing = a.findIndex((value, index) => value !== b[index]);
  return differing >= 0 && (a[differing] ?? 0) < (b[differing] ?? 0);
}
