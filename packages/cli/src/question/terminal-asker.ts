import { askLine } from '../ask-line.ts';
import { layOutLines } from '../show-diff.ts';
import type { Terminal } from '../terminal.ts';
import type { Asker } from './asker.ts';
import { editInEditor } from './edit-in-editor.ts';

/** Asks at the terminal of a command; the terminal must have `canAsk`. A text of several lines is edited in the person's editor. */
export function terminalAsker(terminal: Terminal, signal: AbortSignal): Asker {
  return {
    show(lines) {
      terminal.printError(layOutLines(lines, terminal.errorColors, terminal.errorColumns).join(''));
    },
    suggest: terminal.suggest,
    readLine: (prompt) => askLine(prompt, terminal, signal),
    editText: (text) => editInEditor(text, process.env, signal),
    hidesProblems: true,
  };
}
