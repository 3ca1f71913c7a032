import { useState } from 'react';

/** The number of characters shown at first, because more would make a browser slow. */
const FIRST_CHARACTERS = 50_000;

/** Shows a text below its title. `characters`: the length of the whole text, if only its beginning is there. */
export function LongText({
  title,
  text,
  characters = text.length,
}: {
  readonly title: string;
  readonly text: string;
  readonly characters?: number | undefined;
}) {
  const [isWhole, setWhole] = useState(text.length <= FIRST_CHARACTERS);
  const shown = isWhole ? text : text.slice(0, FIRST_CHARACTERS);
  return (
    <>
      <h4>{title}</h4>
      <pre>{shown}</pre>
      {shown.length < characters && (
        <p className="quiet tool-more">
          the first {shown.length.toLocaleString()} of {characters.toLocaleString()} characters{' '}
          {!isWhole && (
            <button type="button" className="link" onClick={() => setWhole(true)}>
              show all
            </button>
          )}
        </p>
      )}
    </>
  );
}
