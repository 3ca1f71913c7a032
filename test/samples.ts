/**
 * How many samples a proof tries: every fifth in `npm test`, all of them in `npm run proof` (`GOONDAN_SAMPLES=all`),
 * and every twentieth in `npm run verify -- quick` (`GOONDAN_SAMPLES=few`). See docs/decisions.md, "A suite of
 * minutes, and a proof".
 */
import { test } from 'bun:test';

const steps = new Map([
  ['all', 1],
  ['few', 20],
]);

export const sampleStep = steps.get(process.env['GOONDAN_SAMPLES'] ?? '') ?? 5;

/**
 * Returns the number of samples to try; `full` is the number in `npm run proof`. `npm test` tries every fifth, or every
 * `step`-th.
 */
export function samples(full: number, step = sampleStep): number {
  return Math.ceil(full / stepOf(step));
}

/** Returns every `step`-th of these cases, from the one at `first` on, and all of them in `npm run proof`. */
export function sampledCases<Case>(cases: readonly Case[], step: number, first = 0): readonly Case[] {
  const taken = stepOf(step);
  return cases.filter((_, index) => index % taken === first % taken);
}

/** Returns `step` in `npm test`, 1 in `npm run proof`, and never less than `npm run verify -- quick` asks for. */
function stepOf(step: number): number {
  return sampleStep === 1 ? 1 : Math.max(sampleStep === 20 ? 20 : 1, step);
}

/** Like `test`, for a test that runs only in `npm run proof`. Other runs do not list it, not even as skipped. */
export const testInProof: (...args: Parameters<typeof test>) => void = sampleStep === 1 ? test : () => undefined;
