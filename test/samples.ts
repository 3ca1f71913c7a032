/**
 * How many samples a proof takes: every fourth in `npm test`, which everybody waits for, all of them in `npm run proof`
 * (`GOONDAN_SAMPLES=all`), and every twentieth in `npm run verify:quick` (`GOONDAN_SAMPLES=few`).
 * docs/decisions/0026-a-suite-of-four-minutes.md lists the numbers.
 */
const steps = new Map([
  ['all', 1],
  ['few', 20],
]);

export const sampleStep = steps.get(process.env['GOONDAN_SAMPLES'] ?? '') ?? 4;

/** The number to try; `full` is the number of `npm run proof`. */
export function samples(full: number): number {
  return Math.ceil(full / sampleStep);
}
