/**
 * Shows the Markdown of a message. HTML in it is shown as text. Links lead to other pages and to mail only, and images
 * are links, so that a message loads nothing.
 */
import { type ComponentProps, memo } from 'react';
import ReactMarkdown, { type Components } from 'react-markdown';
import remarkGfm from 'remark-gfm';

/** A longer text is shown as it is, because a browser would be slow: the text of a running turn is read with each word. */
const LONGEST = 20_000;
/** So is a line of so many marks of lists and quotes: each of them is a level, and reading thousands takes minutes. */
const deep = /^[ \t]*(?:>[ \t]*|(?:[-*+]|\d{1,9}[.)])[ \t]+){50}/m;
/** And so is a text of so many marks, because reading emphasis that never ends costs the square of their number. */
const MOST_MARKS = 3_000;

const plugins = [remarkGfm];
const components: Components = {
  a: ({ href, children }) => <Link href={href}>{children}</Link>,
  img: ({ src, alt = '' }) => <Link href={typeof src === 'string' ? src : undefined}>{alt === '' ? src : alt}</Link>,
};

export const Markdown = memo(function Markdown({ text }: { readonly text: string }) {
  const isSlow = text.length > LONGEST || deep.test(text) || (text.match(/[*_~[]/g)?.length ?? 0) > MOST_MARKS;
  if (isSlow) return <p className="text">{text}</p>;
  return (
    <div className="text markdown">
      <ReactMarkdown remarkPlugins={plugins} components={components} urlTransform={knownAddress}>
        {text}
      </ReactMarkdown>
    </div>
  );
});

function Link({ href, children }: Pick<ComponentProps<'a'>, 'href' | 'children'>) {
  if (href === undefined || href === '') return <span>{children}</span>;
  return (
    <a href={href} title={href} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

/** Returns an address that a person may follow. Others, such as `javascript:` and places in Studio, are no links. */
function knownAddress(address: string): string | undefined {
  return /^(?:https?:\/\/|mailto:)/i.test(address) ? address : undefined;
}
