/** Who put each message of a conversation there, for people: two or three lines for each. */
import type { Blame, BlamedMessage, ReplacedMessages } from '@goondan/runtime';
import { harmlessText } from '../harmless-text.ts';
import { describeAuthor } from './describe-author.ts';
import { describeMessage } from './describe-message.ts';
import { type HistoryLook, timeOf } from './render-history.ts';

export function renderBlame({ messages }: Blame, look: HistoryLook): string {
  return messages.map((each) => renderMessage(each, look)).join('');
}

function renderMessage(blamed: BlamedMessage, look: HistoryLook): string {
  const { message, replaced } = blamed;
  const { colors, columns } = look;
  const lines = [
    `${colors.bold(`#${blamed.seq}`)} ${message.data.role}  ${colors.dim(harmlessText(describePut(blamed)))}`,
    `    ${describeMessage(message, columns - 4)}`,
    ...(replaced === undefined ? [] : renderReplaced(replaced, look)),
  ];
  return lines.map((line) => `${line.trimEnd()}\n`).join('');
}

/** `model Model/claude, step turn-1.step-0, 2026-01-02T03:04:05Z` */
function describePut({ author, turnId, stepId, at, message, origin }: BlamedMessage): string {
  const call = author.kind === 'tool' && message.source.type === 'tool' ? [`call ${message.source.toolCallId}`] : [];
  const from = origin === undefined ? [] : [`from "${origin.instanceKey}" #${origin.seq}, ${origin.turnId}`];
  return [describeAuthor(author), ...call, stepId ?? turnId, ...from, timeOf(at)].join(', ');
}

function renderReplaced(
  { count, first, last, messages }: ReplacedMessages,
  { colors, columns }: HistoryLook,
): string[] {
  const range = first === last ? `#${first}` : `#${first} to #${last}`;
  const what = count === 1 ? 'one message' : `${count} messages`;
  const shown = messages.map((each) => {
    const start = `      #${each.seq} ${each.message.data.role}, ${describeAuthor(each.author)}${alsoReplaced(each)}: `;
    return `${start}${describeMessage(each.message, Math.max(24, columns - start.length))}`;
  });
  const hidden = messages.length > 0 && count > messages.length ? [`      … and ${count - messages.length} more`] : [];
  return [`    ${colors.yellow(`in the place of ${what}, ${range}`)}`, ...shown, ...hidden];
}

/** To see those, look at an earlier moment. */
function alsoReplaced({ replaced }: BlamedMessage): string {
  return replaced === undefined ? '' : `, in the place of ${replaced.count}`;
}
