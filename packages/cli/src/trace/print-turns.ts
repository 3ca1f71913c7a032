/** Prints the latest turns as a table. Its ids can be passed to `gdn trace`. */
import type { TurnSummary } from '@goondan/runtime/history';
import { describeDuration, findTurnId, shortTurnId } from '@goondan/runtime/internal';
import { harmlessText } from '../harmless-text.ts';
import { widthOf } from '../graphemes.ts';
import { cutToWidth, padToWidth, PIPED } from '../fit-width.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';

export function printTurns(turns: readonly TurnSummary[], terminal: Terminal): void {
  const { print, colors, columns } = terminal;
  const turnIds = turns.map(({ turnId }) => turnId);
  const rows = turns.map((turn) => [
    showTime(turn.startedAt, terminal),
    harmlessText(turn.agentName),
    cutToWidth(harmlessText(turn.instanceKey), 20),
    harmlessText(showId(turn.turnId, turnIds)),
    turn.durationMs === undefined ? '' : describeDuration(turn.durationMs),
    outcomeOf(turn),
    harmlessText((turn.input ?? '').replaceAll(/\s+/g, ' ')),
  ]);
  const heads = ['time', 'agent', 'instance', 'turn', 'took', 'outcome', 'asked'];
  const widths = heads.map((head, index) => Math.max(head.length, ...rows.map((row) => widthOf(row[index] ?? ''))));
  const last = heads.length - 1;
  const rest = Math.max(10, (columns ?? PIPED) - widths.slice(0, last).reduce((sum, width) => sum + width + 2, 0));
  const lineOf = (cells: readonly string[]) =>
    cells
      .map((cell, index) => (index === last ? cutToWidth(cell, rest) : padToWidth(cell, widths[index] ?? 0)))
      .join('  ')
      .trimEnd();
  print(`${colors.dim(lineOf(heads))}\n${rows.map((row) => `${lineOf(row)}\n`).join('')}`);
}

/** The length of an id that a sender chose, if its beginning finds the turn, too. */
const LONGEST_ID = 24;

/** Returns an id that `gdn trace` takes: the short id of the turn, or its beginning if no other listed id begins like it. */
function showId(turnId: string, turnIds: readonly string[]): string {
  const id = shortTurnId(turnId, turnIds);
  const start = id.slice(0, LONGEST_ID);
  const isShared = turnIds.some((other) => other !== turnId && other.includes(start));
  const isEnough = findTurnId(start, [turnId]) === turnId;
  return isShared || !isEnough || !start.isWellFormed() ? id : start;
}

function outcomeOf({ ending, truncated, error, resumes }: TurnSummary): string {
  const after = `${truncated === true ? ', truncated' : ''}${resumes === 0 ? '' : ', resumed'}`;
  if (ending === undefined) return `unfinished${after}`;
  if (ending === 'failed') return `${/^E_\w+/.exec(error ?? '')?.[0] ?? 'failed'}${after}`;
  return `${ending === 'answered' ? 'ok' : ending}${after}`;
}
