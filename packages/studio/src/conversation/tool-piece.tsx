import { useState } from 'react';
import { LongText } from '../text/long-text.tsx';
import type { Piece } from './message-parts.ts';

/** Shows a tool call on one line. Arguments and result are shown only on demand, because they can be megabytes. */
export function ToolPiece({ piece: { name, args, outcome } }: { readonly piece: Extract<Piece, { type: 'tool' }> }) {
  const [isOpen, setOpen] = useState(false);
  const state = outcome === undefined ? 'is-open' : outcome.isError ? 'is-error' : 'is-ok';
  return (
    <details className={`tool ${state}`} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        <span className="dot is-square tool-sign" aria-hidden="true" />
        <code className="tool-name">{name}</code>
        <span className="tool-line cut">{oneLine(args)}</span>
        {outcome?.edited !== undefined && <span className="badge">changed by {outcome.edited.by}</span>}
        {outcome !== undefined && (
          <span className="tool-line cut tool-outcome">
            {outcome.isError && <span className="unseen">failed: </span>}
            {oneLine(outcome.brief ?? outcome.text)}
          </span>
        )}
      </summary>
      {isOpen && args !== '' && <LongText title="Asked with" text={args} />}
      {isOpen && outcome?.edited !== undefined && (
        <LongText title={`Changed by ${outcome.edited.by} to`} text={outcome.edited.args} />
      )}
      {isOpen && outcome !== undefined && (
        <LongText title={outcome.isError ? 'Failed with' : 'Answered'} text={outcome.text} />
      )}
    </details>
  );
}

/** Shortens a text to one line. */
function oneLine(text: string): string {
  return text
    .slice(0, 400)
    .replace(/\n\s*/g, ' ')
    .replace(/([{[]) | (?=[}\]])/g, '$1');
}
