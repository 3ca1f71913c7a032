/**
 * Parses the text of a YAML file into tokens. The parser is not recursive, but the code that uses its result is. So the
 * depth of nested values is limited during parsing.
 */
import { type CST, Lexer, type LineCounter, Parser } from 'yaml';
import { yamlLimits } from './limits.ts';

/**
 * Extra levels for the parser's own stack entries around the values. The exact depth is checked later, on the result.
 */
const SLACK = 8;

/** Parses the text. `refusal`: the reason why parsing stopped before the end. */
export function tokenize(text: string, lines: LineCounter) {
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
    if (lexemes > yamlLimits.lexemes) return stop(parser.offset, 'too many values and punctuation marks');
    if (parser.stack.length > yamlLimits.depth + SLACK) {
      return stop(parser.offset, `values nested deeper than ${yamlLimits.depth} levels`);
    }
  }
  for (const token of parser.end()) {
    if (isOneTooMany(token)) return stop(token.offset, `more than ${yamlLimits.documents} documents`);
  }
  return { tokens, refusal: undefined };

  /** Keeps the token and counts documents. Returns true if there are too many documents. */
  function isOneTooMany(token: CST.Token): boolean {
    tokens.push(token);
    if (token.type === 'document') documents += 1;
    return documents > yamlLimits.documents;
  }

  function stop(offset: number, what: string) {
    return { tokens: [], refusal: { offset, message: `The file has ${what}.` } };
  }
}
