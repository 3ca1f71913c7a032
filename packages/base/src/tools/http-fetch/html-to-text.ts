/**
 * Converts HTML to the text that a reader sees, with headings, lists and links. It passes over the HTML once, so no
 * page can make it slow.
 */

/** Elements that are hidden, together with their content. */
const hidden = new Set([
  'script',
  'style',
  'noscript',
  'template',
  'svg',
  'iframe',
  'object',
  'head',
  'textarea',
  'select',
]);
const blocks = new Set(
  'address article aside blockquote dd details dialog div dl dt fieldset figure footer form h1 h2 h3 h4 h5 h6 header hr li main nav ol p pre section summary table tbody thead tr ul br'.split(
    ' ',
  ),
);
const headings = /^h([1-6])$/;

export function htmlToText(html: string, base: URL) {
  const text = new TextBuilder();
  let title = '';
  /** The element that hides the current text, or `title` inside a title. */
  let inside: string | undefined;
  for (const token of tokensOf(html)) {
    if (token.kind === 'text') {
      if (inside === undefined) text.add(decodeEntities(token.text));
      else if (inside === 'title') title += decodeEntities(token.text);
      continue;
    }
    const { name, isEnd, attributes } = token;
    if (inside !== undefined) {
      if (name === inside && isEnd) inside = undefined;
      // A title may be inside a head, and the head may have no end tag.
      else if (inside === 'head' && name === 'title' && !isEnd) inside = 'title';
      else if (inside === 'head' && name === 'body') inside = undefined;
      continue;
    }
    if (!isEnd && (hidden.has(name) || name === 'title')) inside = name;
    if (blocks.has(name)) text.newLine();
    if (name === 'li' && !isEnd) text.add('- ');
    const [, level] = isEnd ? [] : (headings.exec(name) ?? []);
    if (level !== undefined) text.heading(Number(level));
    if (name === 'a') text.link(isEnd ? undefined : linkOf(attributes, base));
    if ((name === 'td' || name === 'th') && isEnd) text.add(' | ');
  }
  return { title: title.replaceAll(/\s+/g, ' ').trim().slice(0, 300), text: text.end() };
}

/** Collects pieces of text, so that adding to a long text costs no more than adding to a short one. */
class TextBuilder {
  readonly #pieces: string[] = [];
  #atSpace = true;
  #atLine = true;
  #link: { readonly href: string; readonly from: number } | undefined;

  /** Collapses white space to one space, and drops it at the beginning of a line. */
  add(text: string): void {
    const plain = text.replaceAll(/\s+/g, ' ');
    const piece = this.#atSpace && plain.startsWith(' ') ? plain.slice(1) : plain;
    if (piece === '') return;
    this.#pieces.push(piece);
    this.#atSpace = piece.endsWith(' ');
    this.#atLine = false;
  }

  newLine(): void {
    // The link is dropped, because a link over several lines would not be readable.
    this.#link = undefined;
    if (this.#atLine) return;
    this.#pieces.push('\n');
    this.#atSpace = true;
    this.#atLine = true;
  }

  heading(level: number): void {
    this.#pieces.push(`\n${'#'.repeat(level)} `);
    this.#atSpace = true;
  }

  /** Ends the current link, and begins a new one if `href` is given. */
  link(href: string | undefined): void {
    const words = this.#link && this.#pieces.slice(this.#link.from).join('').trim();
    if (this.#link !== undefined && words !== undefined && words !== '') {
      this.#pieces.splice(this.#link.from, Infinity, `[${words}](${this.#link.href})`);
      this.#atSpace = false;
    }
    this.#link = href === undefined ? undefined : { href, from: this.#pieces.length };
  }

  end(): string {
    return this.#pieces
      .join('')
      .replaceAll(' \n', '\n')
      .replaceAll(/\n{3,}/g, '\n\n')
      .trim();
  }
}

const hrefPattern = /(?:^|\s)href\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s"'>]+))/i;

/** Returns the absolute URL of a link; `undefined` if it cannot be fetched. */
function linkOf(attributes: string, base: URL): string | undefined {
  const [, double, single, bare] = hrefPattern.exec(attributes.slice(0, 5_000)) ?? [];
  const written = double ?? single ?? bare;
  if (written === undefined || written.startsWith('#')) return undefined;
  const url = URL.parse(decodeEntities(written), base.href);
  return url?.protocol === 'http:' || url?.protocol === 'https:' ? url.href : undefined;
}

type Token =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'tag'; readonly name: string; readonly isEnd: boolean; readonly attributes: string };

/** Elements whose content is plain text up to their end tag. */
const rawElements = new Set(['script', 'style', 'textarea', 'title', 'noscript', 'iframe']);

function* tokensOf(html: string): Generator<Token> {
  // Only A–Z are converted, because `toLowerCase` makes some other characters longer, and positions in `lower` must
  // equal those in `html`.
  const lower = html.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase());
  const tagStart = /<(\/?)([a-z][a-z0-9:-]{0,50})/y;
  let at = 0;
  while (at < html.length) {
    const open = html.indexOf('<', at);
    if (open === -1) return yield { kind: 'text', text: html.slice(at) };
    if (open > at) yield { kind: 'text', text: html.slice(at, open) };
    if (html.startsWith('<!--', open)) {
      at = endOf(html, '-->', open + 4);
      continue;
    }
    tagStart.lastIndex = open;
    const [, slash = '', name = ''] = tagStart.exec(lower) ?? [];
    if (name === '') {
      // A declaration or comment, or a `<` that does not begin a tag.
      const isDeclaration = html[open + 1] === '!' || html[open + 1] === '?';
      if (!isDeclaration) yield { kind: 'text', text: '<' };
      at = isDeclaration ? endOf(html, '>', open) : open + 1;
      continue;
    }
    const close = endOfTag(html, open);
    const attributes = html.slice(open + 1 + slash.length + name.length, close - 1);
    yield { kind: 'tag', name, isEnd: slash !== '', attributes };
    at = close;
    if (slash !== '' || !rawElements.has(name)) continue;
    const end = lower.indexOf(`</${name}`, at);
    yield { kind: 'text', text: html.slice(at, end === -1 ? html.length : end) };
    at = end === -1 ? html.length : end;
  }
}

function endOf(html: string, mark: string, from: number): number {
  const found = html.indexOf(mark, from);
  return found === -1 ? html.length : found + mark.length;
}

/** Returns the position after the `>` that ends the tag; a `>` in quotes does not count. */
function endOfTag(html: string, open: number): number {
  let quote = '';
  for (let at = open; at < html.length; at += 1) {
    const character = html[at] ?? '';
    if (quote !== '') {
      if (character === quote) quote = '';
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '>') return at + 1;
  }
  return html.length;
}

const entities: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  hellip: '…',
  mdash: '—',
  ndash: '–',
  lsquo: '‘',
  rsquo: '’',
  ldquo: '“',
  rdquo: '”',
  laquo: '«',
  raquo: '»',
  euro: '€',
  middot: '·',
  bull: '•',
  times: '×',
};

function decodeEntities(text: string): string {
  return text.replaceAll(/&(?:#x([0-9a-f]{1,6})|#(\d{1,7})|([a-z]{2,8}));/gi, (whole, hex, decimal, name) => {
    const number = typeof hex === 'string' ? Number.parseInt(hex, 16) : Number(decimal ?? Number.NaN);
    if (Number.isNaN(number)) return entities[String(name).toLowerCase()] ?? whole;
    return number > 0x10ffff ? '\ufffd' : String.fromCodePoint(number).toWellFormed();
  });
}
