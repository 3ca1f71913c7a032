/**
 * How many samples a proof takes: all of them in `npm run proof`, which sets `GOONDAN_PROOF=1`, and every fourth in
 * `npm test`, which everybody waits for. docs/decisions/0026-a-suite-of-four-minutes.md lists the numbers.
 */
export const sampleStep = process.env['GOONDAN_PROOF'] === '1' ? 1 : 4;

/** The number to try; `full` is the number of `npm run proof`. */
export function samples(full: number): number {
  return Math.ceil(full / sampleStep);
}
