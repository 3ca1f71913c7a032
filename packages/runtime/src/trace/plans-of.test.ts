import { expect, test } from 'bun:test';
import { madeRecord } from '../testing/made-trace.ts';
import { describePlans, plansOf } from './plans-of.ts';

const step = (label: string, plan?: string) => madeRecord('step', label, plan === undefined ? {} : { plan });

test('L-01 lists the plans of the turn layers and of the steps, in order', () => {
  const inside = [step('0', 'aaaaaaaa1'), step('1', 'bbbbbbbb1'), step('2', 'bbbbbbbb1'), step('3', 'aaaaaaaa1')];
  const uses = plansOf(madeRecord('turn', 'a', { plan: 'aaaaaaaa1', inside }));
  expect(uses).toEqual([
    { plan: 'aaaaaaaa1', turnLayers: true, steps: [0, 3] },
    { plan: 'bbbbbbbb1', steps: [1, 2] },
  ]);
  expect(describePlans(uses)).toBe(
    'turn layers and steps 0 and 3 with plan aaaaaaaa, steps 1 and 2 with plan bbbbbbbb',
  );
});

test('a turn that ended before its first step has the plan of its layers, and a plan without a digest is left out', () => {
  expect(describePlans(plansOf(madeRecord('turn', 'a', { plan: 'a' })))).toBe('turn layers with plan a');
  expect(describePlans([{ plan: 'a', steps: [0, 1, 2] }])).toBe('steps 0, 1 and 2 with plan a');
  expect(plansOf(madeRecord('turn', 'a', { inside: [step('0')] }))).toEqual([]);
});
