/**
 * Parses regular expressions into a tree. The syntax is JavaScript's, without look-around, back-references and named
 * groups, which cannot be matched in linear time or are not needed here. Lazy quantifiers are accepted but have no
 * effect, because it only matters whether a match exists.
 */
import { isWord } from './program.ts';

export type Node =
  | { readonly is: 'take'; readonly fits: (codePoint: number) => boolean }
  | { readonly is: 'assert'; readonly at: 'start' | 'end' | 'boundary' | 'inside' }
  | { readonly is: 'sequence'; readonly parts: readonly Node[] }
  | { readonly is: 'choice'; readonly options: readonly Node[] }
  | { readonly is: 'repeat'; readonly what: Node; readonly least: number; readonly most: number | undefined };

const MOST_REPEATS = 1_000;

/** Parses a regular expression. Throws an `Error` with the problem and its position. */
export function parseRegex(source: string): Node {
  const parser = new Parser(source);
  const node = parser.choice();
  if (!parser.isDone) throw parser.problem('a ")" without a "(" before it');
  return node;
}

class Parser {
  readonly #characters: readonly string[];
  #at = 0;

  constructor(readonly source: string) {
    this.#characters = Array.from(source);
  }

  get isDone(): boolean {
    return this.#at >= this.#characters.length;
  }

  problem(what: string): Error {
    return new Error(`the regular expression "${this.source}" has ${what}, at character ${this.#at + 1}`);
  }

  choice(): Node {
    const options = [this.#sequence()];
    while (this.#eat('|')) options.push(this.#sequence());
    return options.length === 1 && options[0] !== undefined ? options[0] : { is: 'choice', options };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (!this.isDone && this.#peek() !== '|' && this.#peek() !== ')') parts.push(this.#repeated());
    return { is: 'sequence', parts };
  }

  #repeated(): Node {
    const what = this.#atom();
    const bounds = this.#quantifier();
    if (bounds === undefined) return what;
    if (what.is === 'assert') throw this.problem('a quantifier after something that matches no character');
    this.#eat('?');
    if (this.#quantifier() !== undefined) throw this.problem('two quantifiers in a row');
    return { is: 'repeat', what, ...bounds };
  }

  #quantifier(): { least: number; most: number | undefined } | undefined {
    if (this.#eat('*')) return { least: 0, most: undefined };
    if (this.#eat('+')) return { least: 1, most: undefined };
    if (this.#eat('?')) return { least: 0, most: 1 };
    const [text, least = '', comma, most] = /^\{(\d{1,9})(,(\d{1,9})?)?\}/.exec(this.#rest()) ?? [];
    if (text === undefined) return undefined;
    this.#at += text.length;
    const bounds = { least: Number(least), most: Number(comma === undefined ? least : (most ?? Number.NaN)) };
    const isOpen = Number.isNaN(bounds.most);
    if (Math.max(bounds.least, isOpen ? 0 : bounds.most) > MOST_REPEATS) {
      throw this.problem(`more than ${MOST_REPEATS} repetitions`);
    }
    if (bounds.most < bounds.least) throw this.problem('a repetition whose maximum is below its minimum');
    return isOpen ? { ...bounds, most: undefined } : bounds;
  }

  #atom(): Node {
    const character = this.#take();
    switch (character) {
      case '(':
        return this.#group();
      case '[':
        return { is: 'take', fits: this.#class() };
      case '.':
        return { is: 'take', fits: (codePoint) => !lineEnds.includes(codePoint) };
      case '^':
        return { is: 'assert', at: 'start' };
      case '$':
        return { is: 'assert', at: 'end' };
      case '\\':
        if (this.#eat('b')) return { is: 'assert', at: 'boundary' };
        if (this.#eat('B')) return { is: 'assert', at: 'inside' };
        return { is: 'take', fits: this.#escape() };
      case '*':
      case '+':
      case '?':
        throw this.problem('a quantifier with nothing before it');
      default:
        return { is: 'take', fits: exactly(character) };
    }
  }

  #group(): Node {
    if (this.#eat('?') && !this.#eat(':')) throw this.problem('a kind of group that is not supported');
    const inner = this.choice();
    if (!this.#eat(')')) throw this.problem('a "(" without a ")" after it');
    return inner;
  }

  #class(): Fits {
    const isNegated = this.#eat('^');
    const parts: Fits[] = [];
    while (this.#peek() !== ']') {
      if (this.isDone) throw this.problem('a "[" without a "]" after it');
      parts.push(this.#range());
    }
    this.#take();
    return (codePoint) => parts.some((fits) => fits(codePoint)) !== isNegated;
  }

  #range(): Fits {
    const from = this.#classMember();
    const isRange =
      this.#peek() === '-' && this.#characters[this.#at + 1] !== ']' && this.#at + 1 < this.#characters.length;
    if (!isRange) return typeof from === 'number' ? (codePoint) => codePoint === from : from;
    this.#take();
    const to = this.#classMember();
    if (typeof from !== 'number' || typeof to !== 'number' || to < from)
      throw this.problem('a range whose ends are not two single characters in ascending order');
    return (codePoint) => codePoint >= from && codePoint <= to;
  }

  #classMember(): number | Fits {
    const character = this.#take();
    if (character !== '\\') return codePointOf(character);
    if (this.#eat('b')) return 8;
    const known = classes[this.#peek()];
    return known === undefined ? this.#escapedCharacter() : (this.#take(), known);
  }

  #escape(): Fits {
    const known = classes[this.#peek()];
    if (known !== undefined) {
      this.#take();
      return known;
    }
    const codePoint = this.#escapedCharacter();
    return (each) => each === codePoint;
  }

  #escapedCharacter(): number {
    const [text, hex, wide, braced] =
      /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\})/.exec(this.#rest()) ?? [];
    if (text !== undefined) {
      this.#at += text.length;
      return Number.parseInt(hex ?? wide ?? braced ?? '', 16);
    }
    const character = this.#take();
    const control = controls[character];
    if (control !== undefined) return control;
    // Escapes of letters and digits are reserved: they have a meaning in other dialects, or may get one (\1, \p, \A).
    if (/[A-Za-z\d]/.test(character)) throw this.problem(`an escape "\\${character}" that is not supported`);
    return codePointOf(character);
  }

  #rest(): string {
    return this.#characters.slice(this.#at, this.#at + 24).join('');
  }

  #peek(): string {
    return this.#characters[this.#at] ?? '';
  }

  #take(): string {
    const character = this.#characters[this.#at];
    if (character === undefined) throw this.problem('an unexpected end');
    this.#at += 1;
    return character;
  }

  #eat(character: string): boolean {
    if (this.#peek() !== character) return false;
    this.#at += 1;
    return true;
  }
}

type Fits = (codePoint: number) => boolean;

/** \n, \r, the line separator and the paragraph separator. */
const lineEnds: readonly number[] = [10, 13, 0x2028, 0x2029];

const isDigit: Fits = (codePoint) => codePoint >= 48 && codePoint <= 57;
const isSpace: Fits = (codePoint) => /\s/u.test(String.fromCodePoint(codePoint));
const classes: Readonly<Record<string, Fits>> = {
  d: isDigit,
  D: (codePoint) => !isDigit(codePoint),
  w: isWord,
  W: (codePoint) => !isWord(codePoint),
  s: isSpace,
  S: (codePoint) => !isSpace(codePoint),
};
const controls: Readonly<Record<string, number>> = { n: 10, r: 13, t: 9, f: 12, v: 11, 0: 0 };

function exactly(character: string): Fits {
  const wanted = codePointOf(character);
  return (codePoint) => codePoint === wanted;
}

function codePointOf(character: string): number {
  return character.codePointAt(0) ?? 0;
}
