/**
 * Compiles rules into matchers. A text that is too long to examine matches every rule that asks or denies, and no rule
 * that allows. So does each text after the work for one call is used up, because nothing else can run meanwhile.
 */
import {
  type ArgumentPattern,
  findPatternProblem,
  GoondanError,
  type JsonObject,
  type JsonValue,
} from '@goondan/types';
import type { RuleConfig, Verdict } from './approval-config.ts';
import { compileGlob, type MatchWork } from '../../pattern/compile-glob.ts';

export interface Rule {
  readonly verdict: Verdict;
  readonly reason: string | undefined;
  /** True when the rule examines the arguments of the call. */
  readonly looksAtArguments: boolean;
  isAbout(toolName: string, work: MatchWork): boolean;
  fits(args: JsonObject, work: MatchWork): boolean;
}

/** The steps of finding a value and of beginning to examine it. */
const WORK_OF_VALUE = 100;

/** Tells whether a value matches; `undefined` when it cannot be examined. */
type ValueMatcher = (value: JsonValue, work: MatchWork) => boolean | undefined;

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
    isAbout: (toolName, work) => names.some((fits) => fits(toolName, work) ?? then !== 'allow'),
    fits: (args, work) => conditions.every((holds) => holds(args, work)),
  };
}

/**
 * Compiles one condition. If the path has several values, one matching value is enough to ask or to deny, but all
 * values must match to allow.
 */
function compileCondition(path: string, pattern: ArgumentPattern, then: Verdict): Rule['fits'] {
  const test = compileArgument(pattern);
  const hasMany = path.split('.').includes('*');
  return (args, work) => {
    if (hasMany && work.left <= 0) return then !== 'allow';
    const values = valuesAt(args, path, work);
    const fits = (value: JsonValue) => test(value, work) ?? then !== 'allow';
    return values.length > 0 && (then === 'allow' ? values.every(fits) : values.some(fits));
  };
}

function compileArgument(pattern: ArgumentPattern): ValueMatcher {
  const problem = findPatternProblem(pattern);
  if (problem !== undefined) {
    const { message, suggestion } = problem;
    throw new GoondanError('E_EXT_CONFIG', message, suggestion === undefined ? {} : { suggestion });
  }
  if (typeof pattern === 'string') return onText(pattern);
  if (typeof pattern !== 'object' || pattern === null || Array.isArray(pattern)) return equalTo(pattern);
  // The casts are safe: the pattern was checked.
  return Object.hasOwn(pattern, 'glob')
    ? onText((pattern as { glob: string }).glob)
    : equalTo((pattern as { equals: JsonValue }).equals);
}

/** Returns a test for values. Values that are not text are matched as JSON, so that no value escapes a rule. */
function onText(glob: string): ValueMatcher {
  const fits = compileGlob(glob);
  return (value, work) => {
    if (work.left <= 0) return undefined;
    if (typeof value === 'string') return fits(value, work);
    const text = JSON.stringify(value);
    work.left -= text.length;
    return fits(text, work);
  };
}

function equalTo(wanted: JsonValue): (value: JsonValue) => boolean {
  return (value) => Bun.deepEquals(value, wanted, true);
}

/**
 * Returns the values at a dotted path such as `options.force` or `files.0`. `*` matches every element of a list and
 * every value of an object.
 */
function valuesAt(args: JsonObject, path: string, work: MatchWork): JsonValue[] {
  return path.split('.').reduce<JsonValue[]>(
    (values, key) => {
      const found = values.flatMap((value) => inside(value, key));
      work.left -= found.length * WORK_OF_VALUE;
      return found;
    },
    [args],
  );
}

function inside(value: JsonValue, key: string): JsonValue[] {
  if (typeof value !== 'object' || value === null) return [];
  if (key === '*') return Object.values(value).filter((each) => each !== undefined);
  const found = Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
  // The cast is safe: a part of a JSON value is JSON. Only digits select from a list, so `length` finds nothing.
  return found === undefined || (Array.isArray(value) && !/^\d+$/.test(key)) ? [] : [found as JsonValue];
}
