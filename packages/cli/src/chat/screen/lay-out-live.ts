import type { EditedText } from '../editor/edit-text.ts';
import { layOutPrompt } from '../editor/lay-out-prompt.ts';
import type { LiveView } from './chat-screen.ts';
import type { LivePart } from './paint-frame.ts';
import type { Tty } from './tty.ts';
import { wrapLine } from './wrap-line.ts';

/**
 * Lays out the live part and the prompt below it. If they are higher than the terminal, only the last rows are kept.
 */
export function layOutLive(
  { lines, hint, label }: LiveView,
  edited: EditedText,
  { columns, rows }: ReturnType<Tty['size']>,
): LivePart {
  const prompt = layOutPrompt(edited, { columns, mostRows: Math.max(1, Math.ceil(rows / 2) - 1), label });
  const room = Math.max(0, rows - prompt.rows.length - 1);
  const above =
    room === 0
      ? []
      : [...lines, ...(hint === undefined ? [] : [hint])].flatMap((line) => wrapLine(line, columns)).slice(-room);
  return {
    rows: [...above, ...prompt.rows],
    cursorRow: above.length + prompt.cursorRow,
    cursorColumn: prompt.cursorColumn,
  };
}
