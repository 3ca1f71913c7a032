// Splits TypeScript into comments and strings, without a parser, which is enough to count sentences.

export interface SourcePart {
  readonly kind: 'comment' | 'string';
  /** The text without comment signs or quotes. An expression inside a template counts as one word. */
  readonly text: string;
  readonly line: number;
  /** The code before this part, on the same and the previous line, trimmed. */
  readonly before: string;
}

const comment = String.raw`\/\/[^\n]*|\/\*[\s\S]*?\*\/`;
const quoted = String.raw`'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"`;
const template = '`(?:\\\\.|\\$\\{(?:[^{}`]|\\{[^{}]*\\}|`(?:\\\\.|[^`\\\\])*`)*\\}|[^`\\\\])*`';
/** A slash starts a regular expression after an operator or a bracket, and a division after a name or a number. */
const expression = String.raw`(?<=[=(,:;!&|?{}>\[]\s*|return\s+)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n])+\/`;
const tokens = new RegExp(`(${comment})|(${quoted}|${template})|${expression}`, 'g');

export function readSource(text: string): SourcePart[] {
  const parts: SourcePart[] = [];
  let end = 0;
  for (const match of text.matchAll(tokens)) {
    const [all, asComment, asString] = match;
    const between = text.slice(end, match.index).trim();
    end = match.index + all.length;
    const part = asComment ?? asString;
    if (part === undefined) continue;
    const kind = asComment === undefined ? 'string' : 'comment';
    const last = parts.at(-1);
    const words = kind === 'comment' ? withoutCommentSigns(part) : withoutQuotes(part);
    if (last?.kind === kind && isContinued(kind, between, part)) {
      parts[parts.length - 1] = { ...last, text: last.text + (kind === 'comment' ? '\n' : '') + words };
    } else {
      const line = text.slice(0, match.index).split('\n').length;
      parts.push({
        kind,
        text: words,
        line,
        before: text.slice(Math.max(0, match.index - 200), match.index).trimEnd(),
      });
    }
  }
  return parts;
}

/** Tells whether a part continues the last one: comments on consecutive lines, or strings joined by a plus. */
function isContinued(kind: SourcePart['kind'], between: string, part: string): boolean {
  return kind === 'comment' ? between === '' && part.startsWith('//') : between === '+';
}

function withoutCommentSigns(text: string): string {
  if (text.startsWith('//')) return text.replace(/^\/\/+ ?/, '');
  return text
    .slice(2, -2)
    .replaceAll(/^\s*\*+ ?/gm, '')
    .trim();
}

function withoutQuotes(text: string): string {
  return text
    .slice(1, -1)
    .replaceAll(/\$\{(?:[^{}`]|\{[^{}]*\}|`(?:\\.|[^`\\])*`)*\}/g, 'x')
    .replaceAll(/\\n/g, '\n')
    .replaceAll(/\\(.)/g, '$1');
}
