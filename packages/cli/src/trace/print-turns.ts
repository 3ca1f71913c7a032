/** Prints the latest turns as a table. Its ids can be passed to `gdn trace`. */
import type { TurnSummary } from '@goondan/runtime/history';
import { harmlessText } from '../harmless-text.ts';
import { widthOf } from '../graphemes.ts';
import { cutToWidth, padToWidth, PIPED } from '../fit-width.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';

export function printTurns(turns: readonly TurnSummary[], { print, colors, columns }: Terminal): void {
  const rows = turns.map((turn) => [
    showTime(new Date(turn.startedAt)),
    harmlessText(turn.agentName),
    cutToWidth(harmlessText(turn.instanceKey), 20),
    shortId(turn, turns),
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

/** The minimum length of a shortened id. The id is longer when several ids begin with the same characters. */
const SHORTEST = 8;

/**
 * Returns the shortest unique beginning of the part after `turn-event-`. A turn id of another form is returned whole if
 * it is short; otherwise the span id is returned.
 */
function shortId({ turnId, spanId }: TurnSummary, turns: readonly TurnSummary[]): string {
  const own = ownPart(turnId);
  if (own === undefined) return turnId.length <= MOST_SHOWN && /^[\w-]+$/.test(turnId) ? turnId : spanId;
  const others = turns.map((turn) => ownPart(turn.turnId)).filter((other) => other !== undefined && other !== own);
  let length = SHORTEST;
  while (length < own.length && others.some((other) => other?.startsWith(own.slice(0, length)))) length++;
  return own.slice(0, length);
}

const MOST_SHOWN = 24;

function ownPart(turnId: string): string | undefined {
  return /^turn-event-([0-9a-f]{8}-[0-9a-f-]+)$/.exec(turnId)?.[1];
}

function outcomeOf({ ending, truncated, error, resumes }: TurnSummary): string {
  const after = `${truncated === true ? ', truncated' : ''}${resumes === 0 ? '' : ', resumed'}`;
  if (ending === undefined) return `unfinished${after}`;
  if (ending === 'failed') return `${/^E_\w+/.exec(error ?? '')?.[0] ?? 'failed'}${after}`;
  return `${ending === 'answered' ? 'ok' : ending}${after}`;
}

function describeDuration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}
