/**
 * Parses a query of the language JMESPath (https://jmespath.org/specification.html). The method is Pratt's: a token
 * takes the expression on its left only if it binds more strongly than the token before that expression.
 */
import type { Argument, Comparator, Expression } from './expression.ts';
import { queryError } from './query-error.ts';
import { readTokens, type Token, type TokenType } from './read-tokens.ts';

/** How strongly a token binds the expression on its left; other tokens end an expression. */
const strengths: Readonly<Partial<Record<TokenType, number>>> = {
  ...{ '|': 1, '||': 2, '&&': 3 },
  ...{ '==': 5, '!=': 5, '<': 5, '<=': 5, '>': 5, '>=': 5 },
  ...{ '[]': 9, '[?': 21, '.': 40, '[': 55 },
};
const COMPARISON = 5;
const FLATTEN = 9;
/** A token below this strength ends a projection. */
const PROJECTION_END = 10;
const STAR = 20;
const FILTER = 21;
const DOT = 40;
const NOT = 45;

/** The maximum nesting of a query. Evaluation recurses as deep as the query. */
const DEEPEST = 200;

const current: Expression = { type: 'current' };

export function parseQuery(query: string): Expression {
  return new Parser(readTokens(query)).parse();
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Expression {
    const whole = this.#expression(0);
    if (this.#peek().type !== 'end') throw unexpected(this.#peek());
    return whole;
  }

  #expression(strength: number): Expression {
    this.#depth += 1;
    const first = this.#take();
    if (this.#depth > DEEPEST) throw queryError(`The query is nested more than ${DEEPEST} levels deep`, first.at);
    let left = this.#start(first);
    while (strength < strengthOf(this.#peek())) left = this.#extend(left, this.#take());
    this.#depth -= 1;
    return left;
  }

  /** Parses an expression that begins with this token. */
  #start(token: Token): Expression {
    switch (token.type) {
      case 'literal':
        return { type: 'literal', value: token.value ?? null };
      case 'name':
        return this.#peek().type === '(' ? this.#call(token) : { type: 'field', name: token.text };
      case 'quoted name':
        if (this.#peek().type === '(') throw queryError('The name of a function has no quotes', token.at);
        return { type: 'field', name: token.text };
      case '@':
        return current;
      case '*':
        return this.#projectObject(current);
      case '!':
        return { type: 'not', inner: this.#expression(NOT) };
      case '(': {
        const inner = this.#expression(0);
        this.#expect(')');
        return inner;
      }
      case '{':
        return this.#object();
      case '[]':
      case '[?':
        return this.#extend(current, token);
      case '[':
        return this.#isIndex() ? this.#extend(current, token) : this.#list();
      default:
        throw unexpected(token);
    }
  }

  /** Continues an expression with a token that binds it. */
  #extend(left: Expression, token: Token): Expression {
    switch (token.type) {
      case '.':
        if (this.#peek().type !== '*') return { type: 'then', left, right: this.#afterDot(DOT) };
        this.#take();
        return this.#projectObject(left);
      case '|':
        return { type: 'then', left, right: this.#expression(1) };
      case '||':
        return { type: 'or', left, right: this.#expression(2) };
      case '&&':
        return { type: 'and', left, right: this.#expression(3) };
      case '[]':
        return { type: 'project', of: 'list', left: { type: 'flatten', inner: left }, right: this.#projected(FLATTEN) };
      case '[?': {
        const condition = this.#expression(0);
        this.#expect(']');
        return { type: 'filter', left, condition, right: this.#projected(FILTER) };
      }
      case '[':
        return this.#bracket(left);
      default:
        // The cast is safe: of all tokens with a strength, only comparators are left.
        return { type: 'compare', operator: token.type as Comparator, left, right: this.#expression(COMPARISON) };
    }
  }

  /** Parses the rest of `[0]`, `[1:2]` or `[*]`. */
  #bracket(left: Expression): Expression {
    if (this.#peek().type === '*') {
      this.#take();
      this.#expect(']');
      return { type: 'project', of: 'list', left, right: this.#projected(STAR) };
    }
    const parts: (number | undefined)[] = [undefined];
    for (;;) {
      const token = this.#take();
      if (token.type === ']') break;
      if (token.type === 'number' && parts.at(-1) === undefined) parts[parts.length - 1] = Number(token.value);
      else if (token.type === ':' && parts.length < 3) parts.push(undefined);
      else throw unexpected(token);
      if (token.type === 'number' && this.#peek().type === 'number') throw unexpected(this.#peek());
    }
    const [start, stop, step] = parts;
    if (parts.length === 1) {
      if (start === undefined) throw unexpected(this.#peek());
      return { type: 'then', left, right: { type: 'index', index: start } };
    }
    if (step === 0) throw queryError('The step of a slice is not 0', this.#peek().at);
    const slice: Expression = {
      type: 'slice',
      ...(start === undefined ? {} : { start }),
      ...(stop === undefined ? {} : { stop }),
      ...(step === undefined ? {} : { step }),
    };
    return { type: 'project', of: 'list', left: { type: 'then', left, right: slice }, right: this.#projected(STAR) };
  }

  #projectObject(left: Expression): Expression {
    return { type: 'project', of: 'object', left, right: this.#projected(STAR) };
  }

  /** Parses the part of a projection that each item goes through. */
  #projected(strength: number): Expression {
    const token = this.#peek();
    if (strengthOf(token) < PROJECTION_END) return current;
    if (token.type === '[' || token.type === '[?') return this.#expression(strength);
    if (token.type !== '.') throw unexpected(token);
    this.#take();
    return this.#afterDot(strength);
  }

  #afterDot(strength: number): Expression {
    const token = this.#peek();
    if (token.type === '[') {
      this.#take();
      return this.#list();
    }
    if (token.type === '{') {
      this.#take();
      return this.#object();
    }
    if (token.type !== 'name' && token.type !== 'quoted name' && token.type !== '*') throw unexpected(token);
    return this.#expression(strength);
  }

  #list(): Expression {
    const items: Expression[] = [];
    do items.push(this.#expression(0));
    while (this.#takeIf(','));
    this.#expect(']');
    return { type: 'list', items };
  }

  #object(): Expression {
    const entries: (readonly [string, Expression])[] = [];
    do {
      const key = this.#take();
      if (key.type !== 'name' && key.type !== 'quoted name') throw unexpected(key);
      this.#expect(':');
      entries.push([key.text, this.#expression(0)]);
    } while (this.#takeIf(','));
    this.#expect('}');
    return { type: 'object', entries };
  }

  #call(name: Token): Expression {
    this.#expect('(');
    const args: Argument[] = [];
    if (!this.#takeIf(')')) {
      do {
        args.push(this.#takeIf('&') ? { type: 'reference', inner: this.#expression(0) } : this.#expression(0));
      } while (this.#takeIf(','));
      this.#expect(')');
    }
    return { type: 'call', name: name.text, args };
  }

  /** Tells whether `[` begins an index, a slice or `[*]`, and not a list of expressions. */
  #isIndex(): boolean {
    const { type } = this.#peek();
    if (type === 'number' || type === ':') return true;
    return type === '*' && this.#tokens[this.#next + 1]?.type === ']';
  }

  #peek(): Token {
    // The last token is `end`, and nothing is taken after it.
    return this.#tokens[Math.min(this.#next, this.#tokens.length - 1)] as Token;
  }

  #take(): Token {
    const token = this.#peek();
    this.#next += 1;
    return token;
  }

  #takeIf(type: TokenType): boolean {
    const isNext = this.#peek().type === type;
    if (isNext) this.#next += 1;
    return isNext;
  }

  #expect(type: TokenType): void {
    const token = this.#take();
    if (token.type !== type) throw queryError(`Expected ${type} instead of ${token.text}`, token.at);
  }
}

function strengthOf({ type }: Token): number {
  return strengths[type] ?? 0;
}

function unexpected(token: Token): Error {
  return queryError(`Did not expect ${token.text}`, token.at);
}
