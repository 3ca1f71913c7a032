/** Evaluates a parsed query on a JSON value. */
import type { JsonArray, JsonValue } from '@goondan/types';
import { isObject } from '../../../json/is-object.ts';
import type { Budget } from './budget.ts';
import type { Comparator, Expression, Slice } from './expression.ts';
import { callFunction } from './functions.ts';
import { isEqual, isTrue, keysOf } from './json-values.ts';

export function evaluate(expression: Expression, value: JsonValue, budget: Budget): JsonValue {
  budget.spend();
  const inner = (part: Expression, of: JsonValue) => evaluate(part, of, budget);
  switch (expression.type) {
    case 'current':
      return value;
    case 'literal':
      return expression.value;
    case 'field':
      return isObject(value) && Object.hasOwn(value, expression.name) ? (value[expression.name] ?? null) : null;
    case 'index':
      return Array.isArray(value) ? (value.at(expression.index) ?? null) : null;
    case 'slice':
      return Array.isArray(value) ? slice(value, expression) : null;
    case 'then':
      return inner(expression.right, inner(expression.left, value));
    case 'project': {
      const items = itemsOf(inner(expression.left, value), expression.of, budget);
      return items === undefined ? null : project(items, expression.right, budget);
    }
    case 'filter': {
      const items = inner(expression.left, value);
      if (!Array.isArray(items)) return null;
      const chosen = items.filter((item) => isTrue(inner(expression.condition, item), budget));
      return project(chosen, expression.right, budget);
    }
    case 'flatten':
      return flatten(inner(expression.inner, value), budget);
    case 'list':
      return value === null ? null : expression.items.map((item) => inner(item, value));
    case 'object':
      if (value === null) return null;
      // `fromEntries` makes `__proto__` a key like any other.
      return Object.fromEntries(expression.entries.map(([key, item]) => [key, inner(item, value)]));
    case 'compare':
      return compare(expression.operator, inner(expression.left, value), inner(expression.right, value), budget);
    case 'and': {
      const left = inner(expression.left, value);
      return isTrue(left, budget) ? inner(expression.right, value) : left;
    }
    case 'or': {
      const left = inner(expression.left, value);
      return isTrue(left, budget) ? left : inner(expression.right, value);
    }
    case 'not':
      return !isTrue(inner(expression.inner, value), budget);
    case 'call': {
      const args = expression.args.map((argument) =>
        argument.type === 'reference' ? (item: JsonValue) => inner(argument.inner, item) : inner(argument, value),
      );
      return callFunction(expression.name, args, budget);
    }
  }
}

function itemsOf(value: JsonValue, of: 'list' | 'object', budget: Budget): readonly JsonValue[] | undefined {
  if (of === 'list') return Array.isArray(value) ? value : undefined;
  return isObject(value) ? keysOf(value, budget).map((key) => value[key] ?? null) : undefined;
}

/** Sends each item through an expression; leaves out the items that become null. */
function project(items: readonly JsonValue[], right: Expression, budget: Budget): JsonArray {
  const results: JsonArray = [];
  for (const item of items) {
    const result = evaluate(right, item, budget);
    if (result !== null) results.push(result);
  }
  return results;
}

function flatten(value: JsonValue, budget: Budget): JsonValue {
  if (!Array.isArray(value)) return null;
  for (const item of value) budget.spend(Array.isArray(item) ? item.length + 1 : 1);
  return value.flat();
}

/** The projection that follows every slice pays for the items. */
function slice(list: JsonArray, { start, stop, step = 1 }: Slice): JsonArray {
  const [lowest, highest] = step > 0 ? [0, list.length] : [-1, list.length - 1];
  const place = (given: number | undefined, absent: number) =>
    given === undefined ? absent : Math.min(highest, Math.max(lowest, given < 0 ? given + list.length : given));
  const [from, to] = [place(start, step > 0 ? lowest : highest), place(stop, step > 0 ? highest : lowest)];
  const chosen: JsonArray = [];
  for (let index = from; step > 0 ? index < to : index > to; index += step) {
    chosen.push(list[index] ?? null);
  }
  return chosen;
}

function compare(operator: Comparator, left: JsonValue, right: JsonValue, budget: Budget): JsonValue {
  if (operator === '==') return isEqual(left, right, budget);
  if (operator === '!=') return !isEqual(left, right, budget);
  // Only numbers have an order in JMESPath.
  if (typeof left !== 'number' || typeof right !== 'number') return null;
  if (operator === '<') return left < right;
  if (operator === '<=') return left <= right;
  return operator === '>' ? left > right : left >= right;
}
