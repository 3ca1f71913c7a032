import type { Author } from './tape-columns.ts';

const names: readonly (readonly [Author, string])[] = [
  ['i', 'input'],
  ['m', 'model'],
  ['t', 'tool'],
  ['e', 'extension'],
  ['r', 'runtime'],
];

/** Shows the colour of each author that occurs. */
export function Legend({ authors }: { readonly authors: string }) {
  return (
    <span className="legend quiet" aria-hidden="true">
      {names.map(
        ([author, name]) =>
          authors.includes(author) && (
            <span key={author}>
              <span className="dot is-square" style={{ background: `var(--author-${author})` }} /> {name}
            </span>
          ),
      )}
    </span>
  );
}
