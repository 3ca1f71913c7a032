import type { JsonObject } from '@goondan/types';
import type { ApprovalConfig, Effects, Verdict } from './approval-config.ts';
import type { Rule } from './compile-rules.ts';

/** The maximum number of steps with which the rules examine one call. They take less than a tenth of a second. */
const MOST_WORK = 10_000_000;

/**
 * Returns the verdict of the strictest matching rule, or the default when no rule matches. `dependsOnArguments` is true
 * if the call could get another verdict with other arguments.
 */
export function judgeCall(
  rules: readonly Rule[],
  defaults: ApprovalConfig['default'],
  call: { readonly toolName: string; readonly args: JsonObject; readonly effects: Effects },
) {
  const work = { left: MOST_WORK };
  const about = rules.filter((rule) => rule.isAbout(call.toolName, work));
  const dependsOnArguments = about.some(({ looksAtArguments }) => looksAtArguments);
  const fitting = about.filter((rule) => rule.fits(call.args, work));
  const verdict = strictest(fitting.map((rule) => rule.verdict)) ?? defaultFor(defaults, call.effects);
  const reason = fitting.find((rule) => rule.verdict === verdict && rule.reason !== undefined)?.reason;
  return { verdict, reason: reason ?? reasonFor(fitting.length > 0, call.effects), dependsOnArguments };
}

function strictest(verdicts: readonly Verdict[]): Verdict | undefined {
  return (['deny', 'ask', 'allow'] as const).find((verdict) => verdicts.includes(verdict));
}

const usual: Readonly<Record<Effects, Verdict>> = { none: 'allow', local: 'ask', external: 'ask' };

function defaultFor(defaults: ApprovalConfig['default'], effects: Effects): Verdict {
  if (typeof defaults === 'string') return defaults;
  return defaults?.[effects] ?? usual[effects];
}

function reasonFor(isByRule: boolean, effects: Effects): string {
  if (isByRule) return 'A rule of this swarm decided so.';
  return `No rule matches this call, and its effects are ${effects === 'external' ? 'external, or not declared' : effects}.`;
}
