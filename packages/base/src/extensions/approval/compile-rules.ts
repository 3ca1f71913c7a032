/**
 * Compiles rules into matchers. A text that is too long to examine matches every rule that asks or denies, and no rule
 * that allows.
 */
import { GoondanError, type JsonObject, type JsonValue } from '@goondan/types';
import type { ArgumentPattern, RuleConfig, Verdict } from './approval-config.ts';
import { compileGlob, type Matcher } from '../../pattern/compile-glob.ts';

export interface Rule {
  readonly verdict: Verdict;
  readonly reason: string | undefined;
  /** True when the rule examines the arguments of the call. */
  readonly looksAtArguments: boolean;
  isAbout(toolName: string): boolean;
  fits(args: JsonObject): boolean;
}

/** Compiles the rules. **Errors** — `E_EXT_CONFIG`, which names the invalid rule. */
export function compileRules(rules: readonly RuleConfig[]): Rule[] {
  return rules.map((rule, index) => {
    try {
      return compileRule(rule);
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      const advice = GoondanError.is(error) ? { suggestion: error.suggestion } : {};
      throw new GoondanError('E_EXT_CONFIG', `Extension/approval: rules[${index}]: ${problem}.`, advice);
    }
  });
}

function compileRule({ tool, when = {}, then, reason }: RuleConfig): Rule {
  const names = (typeof tool === 'string' ? [tool] : tool).map(compileGlob);
  const conditions = Object.entries(when).map(([path, pattern]) => compileCondition(path, pattern, then));
  return {
    verdict: then,
    reason,
    looksAtArguments: conditions.length > 0,
    isAbout: (toolName) => names.some((fits) => fits(toolName) === true),
    fits: (args) => conditions.every((holds) => holds(args)),
  };
}

/**
 * Compiles one condition. If the path has several values, one matching value is enough to ask or to deny, but all
 * values must match to allow.
 */
function compileCondition(path: string, pattern: ArgumentPattern, then: Verdict): (args: JsonObject) => boolean {
  const test = compileArgument(pattern);
  const fits = (value: JsonValue) => test(value) ?? then !== 'allow';
  return (args) => {
    const values = valuesAt(args, path);
    return values.length > 0 && (then === 'allow' ? values.every(fits) : values.some(fits));
  };
}

function compileArgument(pattern: ArgumentPattern): (value: JsonValue) => boolean | undefined {
  if (typeof pattern === 'string') return onText(compileGlob(pattern));
  if (typeof pattern !== 'object' || pattern === null || Array.isArray(pattern)) return equalTo(pattern);
  const [kind, ...others] = Object.keys(pattern);
  if (others.length === 0 && kind === 'glob') return onText(compileGlob(textIn(pattern)));
  if (others.length === 0 && kind === 'equals') return equalTo((pattern as { equals: JsonValue }).equals);
  if (Object.hasOwn(pattern, 'regex')) {
    throw new GoondanError('E_EXT_CONFIG', 'regex is not supported', { suggestion: globInstead });
  }
  throw new Error('a pattern is a value, or has one of equals, glob');
}

const globInstead =
  'Write a glob, which matches the whole text: `*` is any number of characters, `?` is one. `^git ` becomes `git *`, ' +
  '`secret` becomes `*secret*`, and `a|b` becomes two rules.';

function textIn(pattern: object): string {
  const glob: unknown = Reflect.get(pattern, 'glob');
  if (typeof glob !== 'string') throw new Error('glob is not a text');
  return glob;
}

/** Returns a test for values. Values that are not text are matched as JSON, so that no value escapes a rule. */
function onText(fits: Matcher): (value: JsonValue) => boolean | undefined {
  return (value) => fits(typeof value === 'string' ? value : JSON.stringify(value));
}

function equalTo(wanted: JsonValue): (value: JsonValue) => boolean {
  return (value) => Bun.deepEquals(value, wanted, true);
}

/**
 * Returns the values at a dotted path such as `options.force` or `files.0`. `*` matches every element of a list and
 * every value of an object.
 */
function valuesAt(args: JsonObject, path: string): JsonValue[] {
  return path.split('.').reduce<JsonValue[]>((values, key) => values.flatMap((value) => inside(value, key)), [args]);
}

function inside(value: JsonValue, key: string): JsonValue[] {
  if (typeof value !== 'object' || value === null) return [];
  if (key === '*') return Object.values(value).filter((each) => each !== undefined);
  const found = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  // The cast is safe: a part of a JSON value is JSON. Only digits select from a list, so `length` finds nothing.
  return found === undefined || (Array.isArray(value) && !/^\d+$/.test(key)) ? [] : [found as JsonValue];
}
