/** Prints the latest turns as a table. Its ids can be passed to `gdn trace`. */
import type { TurnSummary } from '@goondan/runtime/history';
import { describeDuration, findTurnId, shortTurnId } from '@goondan/runtime/internal';
import { harmlessText } from '../harmless-text.ts';
import { cutToWidth } from '../fit-width.ts';
import { renderTable } from '../render-table.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';

const heads = ['time', 'agent', 'instance', 'turn', 'took', 'outcome', 'asked'];

export function printTurns(turns: readonly TurnSummary[], terminal: Terminal): void {
  const turnIds = turns.map(({ turnId }) => turnId);
  const rows = turns.map((turn) => [
    showTime(turn.startedAt, terminal),
    turn.agentName,
    cutToWidth(harmlessText(turn.instanceKey), 20),
    showId(turn.turnId, turnIds),
    turn.durationMs === undefined ? '' : describeDuration(turn.durationMs),
    outcomeOf(turn),
    (turn.input ?? '').replaceAll(/\s+/g, ' '),
  ]);
  terminal.print(renderTable(heads, rows, terminal, { cutsLast: true }));
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
