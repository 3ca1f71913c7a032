/** Finds the rule that matches a message. Pure: the number of failures of each rule is an argument. */
import type { ModelMessage } from '@goondan/types';
import { readText, readToolResult } from './read-message.ts';
import type { Rule } from '../../../config/script/script.ts';

/**
 * Returns the first rule that matches the newest message, with the named groups of its `when`. Skips rules that have
 * failed `times` times.
 */
export function matchRule(
  rules: readonly Rule[],
  newest: ModelMessage | undefined,
  failuresOf: (rule: Rule) => number,
) {
  for (const rule of rules) {
    if (rule.action.type === 'fail' && failuresOf(rule) >= rule.action.times) continue;
    const groups = matchCondition(rule.condition, newest);
    if (groups !== undefined) return { rule, groups };
  }
  return undefined;
}

/**
 * Returns the named groups of the match, or `undefined` if the condition does not match. A group that did not take part
 * in the match is `undefined`.
 */
function matchCondition(
  condition: Rule['condition'],
  newest: ModelMessage | undefined,
): Readonly<Record<string, string | undefined>> | undefined {
  switch (condition.type) {
    case 'always':
      return {};
    case 'tool-result':
      return readToolResult(newest)?.toolName === condition.toolName ? {} : undefined;
    case 'user-text': {
      if (newest?.role !== 'user') return undefined;
      const match = condition.pattern.exec(readText(newest));
      return match === null ? undefined : (match.groups ?? {});
    }
  }
}
