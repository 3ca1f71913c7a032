import { expect, test } from 'bun:test';
import { ruleMutants } from './rule-mutants.ts';
import { tryRuleMutant } from './try-rule-mutant.ts';
import { sampledCases } from '../../test/samples.ts';

test.each([...sampledCases(ruleMutants, 5)])('the test of the mutant "$name" catches it', async (mutant) => {
  const { isCaught, output } = await tryRuleMutant(mutant);
  expect(isCaught, output).toBe(true);
});

test('a test that does not notice its mutant, and a title without a test, are not taken for caught', async () => {
  const [mutant] = ruleMutants;
  if (mutant === undefined) throw new Error('There are no mutants.');
  const blind = { ...mutant, title: 'two approvals of the same arguments approve them, and no others' };
  const missing = { ...mutant, title: 'no test has this title' };
  const outcomes = await Promise.all([blind, missing].map(tryRuleMutant));
  expect(outcomes.map(({ isCaught }) => isCaught)).toEqual([false, false]);
});
