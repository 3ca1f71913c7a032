import { splitInline } from './split-inline.ts';

/** Shows a text with the inline Markdown that `splitInline` supports. */
export function InlineText({ text }: { readonly text: string }) {
  return splitInline(text).map((inline, index) => {
    if (inline.type === 'code') return <code key={index}>{inline.text}</code>;
    return inline.type === 'strong' ? <strong key={index}>{inline.text}</strong> : inline.text;
  });
}
