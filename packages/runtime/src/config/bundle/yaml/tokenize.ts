/**
 * The text of a YAML file as the parser's tokens. The parser itself needs no stack for what is nested; what comes after
 * it does. So depth is watched while it parses, and what is too deep never gets further.
 */
import { type CST, Lexer, type LineCounter, Parser } from 'yaml';
import { yamlLimits } from './limits.ts';

export interface Tokens {
  readonly tokens: readonly CST.Token[];
  /** Why it stopped before the end. */
  readonly refusal?: { readonly offset: number; readonly message: string };
}

/** The parser's own entries around the values: the exact depth is counted later, on what it made. */
const SLACK = 8;

export function tokenize(text: string, lines: LineCounter): Tokens {
  const parser = new Parser(lines.addNewLine);
  const tokens: CST.Token[] = [];
  let documents = 0;
  let lexemes = 0;
  lines.addNewLine(0);
  for (const lexeme of new Lexer().lex(text)) {
    for (const token of parser.next(lexeme)) {
      if (isOneTooMany(token)) return stop(token.offset, `more than ${yamlLimits.documents} documents`);
    }
    lexemes += 1;
    if (lexemes > yamlLimits.lexemes) return stop(parser.offset, 'more values and punctuation than are read');
    if (parser.stack.length > yamlLimits.depth + SLACK) {
      return stop(parser.offset, `values nested deeper than ${yamlLimits.depth} levels`);
    }
  }
  for (const token of parser.end()) {
    if (isOneTooMany(token)) return stop(token.offset, `more than ${yamlLimits.documents} documents`);
  }
  return { tokens };

  /** Keeps it, and counts the documents. */
  function isOneTooMany(token: CST.Token): boolean {
    tokens.push(token);
    if (token.type === 'document') documents += 1;
    return documents > yamlLimits.documents;
  }

  function stop(offset: number, what: string): Tokens {
    return { tokens: [], refusal: { offset, message: `The file has ${what}.` } };
  }
}
