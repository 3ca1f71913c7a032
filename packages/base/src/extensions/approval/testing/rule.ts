import type { ArgumentPattern } from '@goondan/types';
import type { Verdict } from '../approval-config.ts';

/** Creates a rule as a bundle would declare it. */
export function rule<Tool extends string | string[]>(
  tool: Tool,
  verdict: Verdict,
  more: { when?: Record<string, ArgumentPattern>; reason?: string } = {},
) {
  // oxlint-disable-next-line unicorn/no-thenable -- a word of the config; nobody awaits a rule
  return { tool, then: verdict, ...more };
}
