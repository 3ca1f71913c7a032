import { useState } from 'react';
import type { ShownMessage } from './message-parts.ts';

interface AnnouncementProps {
  readonly agent: string;
  readonly isWorking: boolean;
  /** The tool that waits for a person. */
  readonly waiting: string | undefined;
  readonly newest: ShownMessage | undefined;
}

/** As much as is worth being read aloud; the rest is there to be read. */
const LONGEST = 300;

/** For whoever does not see the page: that an answer is on its way, and the answer. Not every word while it is written. */
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
