// Splits prose into sentences, and finds those that begin with a relative word.

export interface Sentence {
  readonly line: number;
  readonly text: string;
}

const openers = /^(?:what|who|whoever|whose|whom|of|that|those|which)\b/i;

/** Tells whether a sentence begins with a relative word and is not a question. */
export function isInverted({ text }: Sentence): boolean {
  return openers.test(text.replace(/^[^\p{L}\p{N}]+/u, '')) && !/\?["'”)*_]*$/.test(text);
}

/** Returns the sentences of four or more words, without code, tables, quoted program output and Markdown marks. */
export function readSentences(markdown: string, firstLine = 1): Sentence[] {
  return readParagraphs(markdown, firstLine).flatMap(({ line, text }) =>
    withoutMarks(text)
      .split(/(?<=[.!?…]["'”)*_]*)\s+(?=["'“(*_`[]*[\p{Lu}\p{N}`])/u)
      .map((sentence) => ({ line, text: sentence.trim() }))
      .filter((sentence) => sentence.text.split(/\s+/).filter((word) => /[\p{L}\p{N}]/u.test(word)).length >= 4),
  );
}

function readParagraphs(markdown: string, firstLine: number): Sentence[] {
  const paragraphs: { line: number; text: string }[] = [];
  let isOpen = false;
  let fence: string | undefined;
  for (const [index, line] of markdown.split('\n').entries()) {
    const [, mark] = /^\s*(```+|~~~+)/.exec(line) ?? [];
    if (fence !== undefined) {
      if (mark === fence) fence = undefined;
      continue;
    }
    fence = mark;
    const isText = mark === undefined && /\S/.test(line) && !/^\s*(?:\||<\/?[a-z]|\[[^\]]+\]:)/.test(line);
    const startsAnew = /^\s*(?:#+ |[-*+] |\d+\. |> |@\w+)/.test(line);
    const last = paragraphs.at(-1);
    if (isText && isOpen && !startsAnew && last !== undefined) last.text += ` ${line.trim()}`;
    else if (isText) paragraphs.push({ line: firstLine + index, text: line.trim() });
    isOpen = isText && !/^\s*#+ /.test(line);
  }
  return paragraphs;
}

/** Replaces a code span with one word, and a link with its text. */
function withoutMarks(text: string): string {
  return text
    .replace(/^(?:#+ |[-*+] |\d+\. |> )+/, '')
    .replaceAll(/`[^`]*`/g, '`x`')
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, '$1')
    .replaceAll(/\*\*|__/g, '');
}
