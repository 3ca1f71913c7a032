import type { Piece } from './message-parts.ts';

export function PieceOfMessage({ piece }: { readonly piece: Piece }) {
  switch (piece.type) {
    case 'text':
      return <p className="text">{piece.text}</p>;
    case 'code':
      return (
        <pre className="code" data-language={piece.language}>
          <code>{piece.text}</code>
        </pre>
      );
    case 'reasoning':
      return (
        <details className="reasoning">
          <summary>thought</summary>
          <p className="text">{piece.text}</p>
        </details>
      );
    case 'attachment':
      return <p className="attachment">📎 {piece.name}</p>;
    case 'tool':
      return <ToolPiece piece={piece} />;
  }
}

function ToolPiece({ piece: { name, args, outcome } }: { readonly piece: Extract<Piece, { type: 'tool' }> }) {
  const state = outcome === undefined ? 'is-open' : outcome.isError ? 'is-error' : 'is-ok';
  return (
    <details className={`tool ${state}`}>
      <summary>
        <span className="tool-sign" aria-hidden="true" />
        <code className="tool-name">{name}</code>
        <span className="tool-line">{oneLine(args)}</span>
        {outcome !== undefined && <span className="tool-line tool-outcome">{oneLine(outcome.text)}</span>}
      </summary>
      {args !== '' && (
        <>
          <h4>Asked with</h4>
          <pre>{args}</pre>
        </>
      )}
      {outcome !== undefined && (
        <>
          <h4>{outcome.isError ? 'Failed with' : 'Answered'}</h4>
          <pre>{outcome.text}</pre>
        </>
      )}
    </details>
  );
}

/** As much as a line holds; what is on several lines for reading is on one again. */
function oneLine(text: string): string {
  return text
    .slice(0, 400)
    .replace(/\n\s*/g, ' ')
    .replace(/([{[]) | (?=[}\]])/g, '$1');
}
