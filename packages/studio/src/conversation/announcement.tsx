import { useState } from 'react';
import type { ShownMessage } from './message-parts.ts';

interface AnnouncementProps {
  readonly agent: string;
  readonly isWorking: boolean;
  /** The tool call or other subject that waits for a person. */
  readonly waiting: string | undefined;
  readonly newest: ShownMessage | undefined;
}

/** The maximum number of characters that are read aloud; the page shows the whole text. */
const LONGEST = 300;

/**
 * For screen readers: announces that the agent is answering, and later the finished answer, but not every word while it
 * is streamed.
 */
export function Announcement({ agent, isWorking, waiting, newest }: AnnouncementProps) {
  const [hasWorked, setWorked] = useState(false);
  if (isWorking && !hasWorked) setWorked(true);
  return (
    <p className="unseen" role="status">
      {says()}
    </p>
  );

  function says(): string {
    if (waiting !== undefined) return `${waiting} waits for you.`;
    if (isWorking) return `${agent} is working.`;
    return hasWorked && newest?.author.kind === 'model' ? `${agent}: ${textOf(newest).slice(0, LONGEST)}` : '';
  }
}

function textOf({ message }: ShownMessage): string {
  const { content } = message.data;
  if (typeof content === 'string') return content;
  return content.map((part) => (part.type === 'text' ? part.text : '')).join(' ');
}
