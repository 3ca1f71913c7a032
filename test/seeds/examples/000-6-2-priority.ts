// Three step layers with priorities 10, 5 and 10.
import type { ExtensionApi, StepMiddlewareContext } from '@goondan/types';

/** Which layer was entered, in order. */
export const entered: string[] = [];

const note = (name: string) => (ctx: StepMiddlewareContext) => {
  entered.push(name);
  return ctx.next();
};
const stepMiddlewareA = note('A');
const stepMiddlewareB = note('B');
const stepMiddlewareC = note('C');

export function register(api: ExtensionApi) {
// verbatim from seed 000, 6.2
// Extension A (등록 순서: 1번째)
api.pipeline.register('step', stepMiddlewareA, { priority: 10 });

// Extension B (등록 순서: 2번째)
api.pipeline.register('step', stepMiddlewareB, { priority: 5 });

// Extension C (등록 순서: 3번째)
api.pipeline.register('step', stepMiddlewareC, { priority: 10 });
// end of verbatim
}
