/** Renders the author of each message of a conversation, in two or three lines per message. */
import { shortTurnId } from '@goondan/runtime/internal';
import type { Blame, BlamedMessage, ReplacedMessages } from '@goondan/runtime/history';
import { PIPED } from '../fit-width.ts';
import { widthOf } from '../graphemes.ts';
import { harmlessText } from '../harmless-text.ts';
import { describeAuthor } from './describe-author.ts';
import { describeMessage } from './describe-message.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';

const LEAST_WORDS = 24;

type BlameTerminal = Pick<Terminal, 'colors' | 'columns' | 'isWatched'>;

export function renderBlame({ messages }: Blame, terminal: BlameTerminal): string {
  return messages.flatMap((each) => renderMessage(each, terminal).map((line) => `${line.trimEnd()}\n`)).join('');
}

function renderMessage(blamed: BlamedMessage, terminal: BlameTerminal): string[] {
  const { seq, message, replaced, origin } = blamed;
  const { colors, columns = PIPED } = terminal;
  const put = colors.dim(harmlessText(describePut(blamed, terminal)));
  const head = `${colors.bold(`#${seq}`)} ${message.data.role}  ${put}`;
  return [
    head,
    `    ${describeMessage(message, Math.max(LEAST_WORDS, columns - 4))}`,
    ...(origin?.replaced === undefined
      ? []
      : [`    ${colors.yellow(`there in the place of ${describeNumbers(origin.replaced)}`)}`]),
    ...(replaced === undefined ? [] : [`    ${colors.yellow(`in the place of ${describeNumbers(replaced)}`)}`]),
    ...(replaced === undefined ? [] : renderReplaced(replaced, columns)),
  ];
}

/** Formats a line such as `model Model/claude, turn 1f3a9c2b step 0, 2026-01-02T03:04:05Z`. */
function describePut({ author, turnId, stepId, at, message, origin }: BlamedMessage, terminal: BlameTerminal): string {
  const call = author.kind === 'tool' && message.source.type === 'tool' ? [`call ${message.source.toolCallId}`] : [];
  const from = origin === undefined ? [] : [`from "${origin.instanceKey}" #${origin.seq}`];
  return [
    describeAuthor(author),
    ...call,
    describePlace(stepId ?? origin?.turnId ?? turnId),
    ...from,
    showTime(at, terminal),
  ].join(', ');
}

/** Names the turn, or the step, of an id such as `turn-1` or `turn-1.step-0`. */
function describePlace(id: string): string {
  const [, turnId = id, step] = /^(.*)\.step-(\d+)$/s.exec(id) ?? [];
  return `turn ${shortTurnId(turnId)}${step === undefined ? '' : ` step ${step}`}`;
}

function describeNumbers({ count, first, last }: Omit<ReplacedMessages, 'messages'>): string {
  const range = first === last ? `#${first}` : `#${first} to #${last}`;
  return `${count === 1 ? 'one message' : `${count} messages`}, ${range}`;
}

function renderReplaced({ count, messages }: ReplacedMessages, columns: number): string[] {
  const shown = messages.map((each) => {
    const who = `${each.message.data.role}, ${harmlessText(describeAuthor(each.author))}`;
    const start = `      #${each.seq} ${who}${alsoReplaced(each)}: `;
    return `${start}${describeMessage(each.message, Math.max(LEAST_WORDS, columns - widthOf(start)))}`;
  });
  const more = count - messages.length;
  return messages.length > 0 && more > 0 ? [...shown, `      … and ${more} more`] : shown;
}

/**
 * Says how many messages a replaced message had itself replaced. To see those, a person uses `gdn blame --at` with an
 * earlier moment.
 */
function alsoReplaced({ replaced }: BlamedMessage): string {
  return replaced === undefined ? '' : `, in the place of ${replaced.count}`;
}
