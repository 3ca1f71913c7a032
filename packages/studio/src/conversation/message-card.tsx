import { memo } from 'react';
import { describeMoment } from '../time/describe-time.ts';
import { counted } from '../text/counted.ts';
import { describeAuthor } from './describe-author.ts';
import { type Outcomes, piecesOf, type ShownMessage } from './message-parts.ts';
import { PieceOfMessage } from './piece-of-message.tsx';
import type { Show } from '../route/route.ts';

interface MessageCardProps {
  /** The conversation's agent. Messages of its model are shown under its name. */
  readonly agent: string;
  readonly shown: ShownMessage;
  readonly outcomes: Outcomes;
  readonly calls: ReadonlySet<string>;
  readonly show: Show;
}

/** Shows one message with its author, and a link to the conversation as it was after the event of this message. */
export const MessageCard = memo(function MessageCard({ agent, shown, outcomes, calls, show }: MessageCardProps) {
  const { message, author, seq, at, replaced } = shown;
  const pieces = piecesOf(message.data, outcomes, calls);
  if (pieces.length === 0) return null;
  // Older messages have this metadata key instead of the field `lifetime`.
  const isEphemeral = message.lifetime !== undefined;
  return (
    <article className={`message is-${message.data.role} by-${author.kind}${isEphemeral ? ' is-ephemeral' : ''}`}>
      <header>
        <span className="author">{author.kind === 'model' ? agent : describeAuthor(author, message.data.role)}</span>
        {author.kind === 'model' && author.ref !== undefined && (
          <span className="moment">{describeAuthor(author)}</span>
        )}
        <button
          type="button"
          className="link moment"
          title="The conversation at this moment"
          onClick={() => show({ at: seq })}
        >
          #{seq} · {describeMoment(at)}
        </button>
      </header>
      {pieces.map((piece, index) => (
        // The index is a stable key, because a message never changes; it can only be replaced by another message.
        <PieceOfMessage key={index} piece={piece} />
      ))}
      {message.metadata['goondan.truncated'] === true && (
        <p className="warning">Truncated: the reply was cut off at its limit of tokens.</p>
      )}
      {replaced !== undefined && (
        <p className="quiet">
          stands for {counted(replaced.count, 'message')}, #{replaced.first} to #{replaced.last}
        </p>
      )}
    </article>
  );
});
