/**
 * Settings of the JavaScript engine for the test processes of `npm test`. Tests call most functions too rarely for code
 * that the engine optimizes to pay off. So it optimizes a function later than usual, and not twice. Bun does not collect
 * garbage while a test waits; the engine still does so when memory is needed.
 */
export const engineSettings = {
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_thresholdForOptimizeAfterWarmUp: '8000',
  BUN_JSC_thresholdForOptimizeAfterLongWarmUp: '8000',
  BUN_GC_TIMER_DISABLE: '1',
};

/**
 * A developer's `.env` and `node_modules` must not affect the result of tests, and no process may outlive them. A test file
 * that leaves its process changed fails.
 */
export const testFlags = [
  '--no-env-file',
  '--no-install',
  '--no-orphans',
  '--preload=./scripts/usual-engine.mjs',
  '--preload=./test/seed.ts',
  '--preload=./scripts/refuse-leftovers.mjs',
];
