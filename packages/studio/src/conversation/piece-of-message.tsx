import type { Piece } from './message-parts.ts';
import { Attachment } from './attachment.tsx';
import { Markdown } from '../text/markdown.tsx';
import { ToolPiece } from './tool-piece.tsx';

export function PieceOfMessage({ piece }: { readonly piece: Piece }) {
  switch (piece.type) {
    case 'text':
      return <Markdown text={piece.text} />;
    case 'json':
      return (
        <pre className="code" data-language="json">
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
      return <Attachment piece={piece} />;
    case 'tool':
      return <ToolPiece piece={piece} />;
  }
}
