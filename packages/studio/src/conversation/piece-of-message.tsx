import type { Piece } from './message-parts.ts';
import { splitInline } from './split-inline.ts';
import { ToolPiece } from './tool-piece.tsx';

export function PieceOfMessage({ piece }: { readonly piece: Piece }) {
  switch (piece.type) {
    case 'text':
      return <TextPiece text={piece.text} />;
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

function TextPiece({ text }: { readonly text: string }) {
  return (
    <p className="text">
      {splitInline(text).map((inline, index) => {
        if (inline.type === 'code') return <code key={index}>{inline.text}</code>;
        return inline.type === 'strong' ? <strong key={index}>{inline.text}</strong> : inline.text;
      })}
    </p>
  );
}
