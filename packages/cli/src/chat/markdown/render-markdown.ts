/**
 * Renders the Markdown of a model (GFM) as lines for a terminal. Prose wraps between words. Code keeps its lines, so that it
 * can be copied. Everything that has no form here, such as HTML, stays as it was written.
 */
import { lexer, type MarkedToken, type Token, type Tokens } from 'marked';
import { emptyLine, type Line, line, linesOf, type Span, span, type Style } from '../screen/line.ts';
import { widthOfLine, wrapProse } from '../screen/wrap-line.ts';
import { tableLines } from './table-lines.ts';

/** With less room, a nested block is shown as it was written. */
const NARROW = 10;
const LONGEST_RULE = 40;

export function renderMarkdown(text: string, columns: number): Line[] {
  return renderBlocks(readBlocks(text), columns);
}

/** Reads the blocks of a text. If they are nested too deeply to be read, the text is one block. */
export function readBlocks(text: string): readonly MarkedToken[] {
  try {
    return known(lexer(text));
  } catch (error) {
    if (error instanceof RangeError) return [{ type: 'text', raw: text, text }];
    throw error;
  }
}

export function codeLine(text: string): Line {
  return [span('  '), span(text, 'cyan')];
}

/** No extension of `marked` is in use, so there are no tokens of other types. */
function known(tokens: readonly Token[] = []): readonly MarkedToken[] {
  return tokens as readonly MarkedToken[];
}

function renderBlocks(blocks: readonly MarkedToken[], columns: number): Line[] {
  return blocks.flatMap((block) => {
    return columns < NARROW && block.type !== 'space' ? asWritten(block) : renderBlock(block, columns);
  });
}

function renderBlock(block: MarkedToken, columns: number): readonly Line[] {
  switch (block.type) {
    case 'space':
      return /\n[^]*\n/.test(block.raw) ? [emptyLine] : [];
    case 'heading':
      return wrapped(renderInline(known(block.tokens), 'bold'), columns);
    case 'paragraph':
    case 'text':
      return wrapped(block.tokens === undefined ? [span(block.text)] : renderInline(known(block.tokens)), columns);
    case 'code':
      return block.text.split('\n').map(codeLine);
    case 'list':
      return block.items.flatMap((item, index) => renderItem(item, markerOf(block, index), columns));
    case 'blockquote': {
      const bar = span('│ ', 'dim');
      return renderBlocks(known(block.tokens), columns - 2).map((each) => [bar, ...each]);
    }
    case 'table': {
      const [head = [], ...rows] = [block.header, ...block.rows].map((row) => row.map(renderCell));
      return tableLines(head, rows, block.align, columns);
    }
    case 'hr':
      // Stars may be a masked text.
      if (block.raw.includes('*')) return asWritten(block);
      return [line('─'.repeat(Math.min(columns, LONGEST_RULE)), 'dim')];
    case 'checkbox':
      return [];
    default:
      return asWritten(block);
  }
}

function asWritten({ raw }: MarkedToken): Line[] {
  return linesOf(raw.trimEnd());
}

function markerOf({ ordered, start }: Tokens.List, index: number): string {
  return ordered ? `${Number(start) + index}. ` : '• ';
}

function renderItem({ task, checked, tokens, raw }: Tokens.ListItem, marker: string, columns: number): Line[] {
  const begin = `${marker}${task ? `[${checked === true ? 'x' : ' '}] ` : ''}`;
  const [first = emptyLine, ...others] = withoutEnd(renderBlocks(known(tokens), columns - begin.length));
  const indent = span(' '.repeat(marker.length));
  // The author of the list left a blank line after this item.
  const after = /\n\s*\n$/.test(raw) ? [emptyLine] : [];
  return [
    [span(begin, 'dim'), ...first],
    ...others.map((each) => (each === emptyLine ? each : [indent, ...each])),
    ...after,
  ];
}

/** Removes blank lines from the end. */
export function withoutEnd(lines: readonly Line[]): readonly Line[] {
  return lines.slice(0, lines.findLastIndex((each) => each !== emptyLine) + 1);
}

function renderCell({ tokens }: Tokens.TableCell): Line {
  return renderInline(known(tokens)).map(({ text, ...more }) => ({ ...more, text: text.replaceAll('\n', ' ') }));
}

/** Wraps a text, and keeps its line breaks: a text that is not Markdown has them for a reason. */
function wrapped(spans: readonly Span[], columns: number): Line[] {
  const lines: Span[][] = [[]];
  for (const { text, style } of spans) {
    for (const [index, part] of text.split('\n').entries()) {
      if (index > 0) lines.push([]);
      if (part !== '') lines.at(-1)?.push(span(part, style));
    }
  }
  return lines.flatMap((each) => (widthOfLine(each) <= columns ? [each] : wrapProse(each, columns)));
}

function renderInline(tokens: readonly MarkedToken[], style?: Style): Span[] {
  return tokens.flatMap((token) => renderSpan(token, style));
}

function renderSpan(token: MarkedToken, style?: Style): Span[] {
  switch (token.type) {
    case 'text':
    case 'escape':
      return [span(decodeEntities(token.text), style)];
    case 'strong':
      return renderInline(known(token.tokens), 'bold');
    case 'em':
      return renderInline(known(token.tokens), style ?? 'italic');
    case 'codespan':
      return [span(token.text, 'cyan')];
    case 'br':
      return [span('\n')];
    case 'link':
    case 'image':
      return renderLink(token, style);
    case 'checkbox':
      return [];
    default:
      return [span(/^<br *\/?>$/i.test(token.raw) ? '\n' : token.raw, style)];
  }
}

/** The address is always visible, because the text of a link may say something else. */
function renderLink({ type, text, href, tokens }: Tokens.Link | Tokens.Image, style?: Style): Span[] {
  const label = type === 'image' ? [span(`image ${text}`.trimEnd(), style)] : renderInline(known(tokens), style);
  return href === text || href === `mailto:${text}` ? label : [...label, span(` (${href})`, 'dim')];
}

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };

function decodeEntities(text: string): string {
  return text.replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (whole, name: string) => entities[name] ?? whole);
}
