/**
 * Settings of the JavaScript engine for the test processes of `npm test`. Tests call most functions too rarely for code
 * that the engine optimizes to pay off. So it optimizes a function later than usual, and not twice.
 */
export const lateCompiling = {
  BUN_JSC_useFTLJIT: '0',
  BUN_JSC_thresholdForOptimizeAfterWarmUp: '8000',
  BUN_JSC_thresholdForOptimizeAfterLongWarmUp: '8000',
};
