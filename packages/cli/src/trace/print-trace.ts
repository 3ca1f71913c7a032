/** Prints a recorded turn for `gdn demo` and `gdn trace`. */
import { renderTrace, type TurnTrace } from '@goondan/runtime/history';
import { shortTurnId } from '@goondan/runtime/internal';
import { cutToWidth, PIPED, wrapWords } from '../fit-width.ts';
import { harmlessText } from '../harmless-text.ts';
import { showTime } from '../show-time.ts';
import type { Terminal } from '../terminal.ts';
import { fitTree } from './fit-tree.ts';

const legend =
  'Outer layers hold inner ones. own: its own time · ~ changed on the way in · ← on the way out · + message event';

/**
 * Prints the trees in order, below a legend. `isFull`: prints every change in full. `hasHeads`: prints a heading for
 * each turn.
 */
export function printTrace(
  turns: readonly TurnTrace[],
  terminal: Terminal,
  { isFull = false, hasHeads = true }: { readonly isFull?: boolean; readonly hasHeads?: boolean } = {},
): void {
  const { print, colors, columns } = terminal;
  const time = (text: string) => showTime(text, terminal);
  const styles = { kind: colors.cyan, name: colors.bold, time: colors.dim, change: colors.yellow, error: colors.red };
  const fit = (start: string, text: string) => cutToRoom(text, (columns ?? PIPED) - Bun.stringWidth(start));
  const dimWords = (text: string) => colors.dim(wrapWords(text, columns, GOES_ON));
  const trees = turns.map((turn) => {
    const whole = renderTrace(turn, { paint: (style, text) => styles[style](text), fit, time, isFull });
    const tree = columns === undefined ? whole : fitTree(whole, columns);
    return hasHeads ? `${dimWords(describeTurn(turn, time(turn.startedAt)))}\n${tree}` : tree;
  });
  print(`${dimWords(isFull ? `${legend} · » what it said` : legend)}\n${trees.join('\n')}\n`);
}

/** Cuts a text to its room in a line. Returns an empty text if there is hardly any room. */
function cutToRoom(text: string, room: number): string {
  return room < LEAST_ROOM ? '' : cutToWidth(text, room);
}

const LEAST_ROOM = 12;
const GOES_ON = '  ';

function describeTurn({ turnId, traceId, input = '' }: TurnTrace, startedAt: string): string {
  const asked = input === '' ? '' : `\nasked: ${harmlessText(input.replaceAll(/\s+/g, ' '))}`;
  return `turn ${harmlessText(shortTurnId(turnId))} of trace ${harmlessText(traceId)}, ${harmlessText(startedAt)}${asked}`;
}
