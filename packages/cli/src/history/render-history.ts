/** Renders a page of a history: one line for each turn, and below it one line for each event of the turn. */
import { shortTurnId } from '@goondan/runtime/internal';
import type { HistoryEvent, HistoryPage, HistoryTurn } from '@goondan/runtime/history';
import { endingOf } from '@goondan/types';
import { harmlessText } from '../harmless-text.ts';
import { widthOf } from '../graphemes.ts';
import { padToWidth, PIPED } from '../fit-width.ts';
import { shorten } from '../shorten.ts';
import { showClock, showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';
import { describeAuthor } from './describe-author.ts';
import { describeMessage } from './describe-message.ts';

/** In a terminal narrower than this, times and authors are shortened to leave room for the text. */
const NARROW = 100;

export function renderHistory(
  { first, last, turns }: HistoryPage,
  terminal: Pick<Terminal, 'colors' | 'columns' | 'isWatched'>,
): string {
  const { colors, columns = PIPED } = terminal;
  const events = turns.flatMap((turn) => turn.events);
  const turnIds = turns.map(({ turnId }) => turnId);
  const isNarrow = columns < NARROW;
  const widestAuthor = isNarrow ? 24 : 36;
  const nameOf = ({ author }: HistoryEvent) => shorten(harmlessText(describeAuthor(author)), widestAuthor);
  const widths = { seq: String(last).length, author: Math.max(0, ...events.map((row) => widthOf(nameOf(row)))) };
  const isCut = first > 1 && events[0]?.seq === first;
  const gone = isCut ? [`${colors.dim(`Events before ${first} are no longer kept.`)}\n`] : [];
  return [...gone, ...turns.flatMap(renderTurn)].join('');

  function renderTurn(turn: HistoryTurn): string[] {
    const head = [shortTurnId(turn.turnId, turnIds), showTime(turn.committedAt, terminal), describeEnd(turn)].join(
      '  ',
    );
    return [`${colors.bold(harmlessText(head))}\n`, ...turn.events.map(renderEvent)];
  }

  function renderEvent(row: HistoryEvent): string {
    const { seq, at, event } = row;
    const who = padToWidth(nameOf(row), widths.author);
    // The day is left out, because the line of the turn shows it.
    const time = isNarrow ? showClock(at, terminal) : showTime(at, terminal);
    const start = `  ${String(seq).padStart(widths.seq)}  ${time}  ${who}  ${event.type.padEnd(WIDEST_EVENT)}`;
    const words = describeEvent(row, Math.max(LEAST_WORDS, columns - widthOf(start) - 2));
    return `${`${start}  ${words}`.trimEnd()}\n`;
  }
}

/** The length of `truncate`. */
const WIDEST_EVENT = 8;
const LEAST_WORDS = 24;

function describeEvent({ event, target }: HistoryEvent, longest: number): string {
  const which = target === undefined ? '' : `#${target}`;
  if (event.type === 'truncate' || event.type === 'remove') return which;
  const start = which === '' ? '' : `${which}: `;
  return `${start}${describeMessage(event.message, longest - start.length)}`;
}

function describeEnd({ result, fork }: HistoryTurn): string {
  if (result === 'reset') return 'started anew';
  if (result === 'fork')
    return `forked from "${fork?.instanceKey ?? ''}"${fork?.seq === undefined ? '' : ` at ${fork.seq}`}`;
  const ending = endingOf(result);
  if (ending === 'failed') return `failed: ${result.error?.code ?? result.error?.message ?? ''}`;
  if (ending === 'cancelled') return ending;
  return result.truncated === true ? 'answered, truncated' : 'answered';
}
