// Three handlers of an old extension, sorted by their priorities.
import type { OldExtensionApi } from '@goondan/v010';

/** The names of the handlers that ran, in order. */
export const ran: string[] = [];

const named =
  (name: string) =>
  <Context>(ctx: Context): Context => {
    ran.push(name);
    return ctx;
  };
const [fnA, fnB, fnC] = [named('fnA'), named('fnB'), named('fnC')];

export function register(api: OldExtensionApi) {
// verbatim from seed 003, 7.2
// 등록 순서
api.pipelines.mutate('step.tools', fnA, { priority: 10 });
api.pipelines.mutate('step.tools', fnB, { priority: 5 });
api.pipelines.mutate('step.tools', fnC, { priority: 10 });
// end of verbatim
}
