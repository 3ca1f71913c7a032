/** The tree of a parsed query. */
import type { JsonValue } from '@goondan/types';

export type Expression =
  | { readonly type: 'current' }
  | { readonly type: 'literal'; readonly value: JsonValue }
  | { readonly type: 'field'; readonly name: string }
  | { readonly type: 'index'; readonly index: number }
  | ({ readonly type: 'slice' } & Slice)
  /** `left.right`, `left[0]` and `left | right`: `right` sees the result of `left`. */
  | { readonly type: 'then'; readonly left: Expression; readonly right: Expression }
  /** `left[*].right`, or `left.*.right` for the values of an object. */
  | { readonly type: 'project'; readonly of: 'list' | 'object'; readonly left: Expression; readonly right: Expression }
  | {
      readonly type: 'filter';
      readonly left: Expression;
      readonly condition: Expression;
      readonly right: Expression;
    }
  | { readonly type: 'flatten'; readonly inner: Expression }
  | { readonly type: 'list'; readonly items: readonly Expression[] }
  | { readonly type: 'object'; readonly entries: readonly (readonly [string, Expression])[] }
  | {
      readonly type: 'compare';
      readonly operator: Comparator;
      readonly left: Expression;
      readonly right: Expression;
    }
  | { readonly type: 'and' | 'or'; readonly left: Expression; readonly right: Expression }
  | { readonly type: 'not'; readonly inner: Expression }
  | { readonly type: 'call'; readonly name: string; readonly args: readonly Argument[] };

/** An argument of a function: an expression, or `&expression`, which the function evaluates for each item. */
export type Argument = Expression | { readonly type: 'reference'; readonly inner: Expression };

export interface Slice {
  readonly start?: number;
  readonly stop?: number;
  readonly step?: number;
}

export type Comparator = '==' | '!=' | '<' | '<=' | '>' | '>=';
