import { askLine } from '../ask-line.ts';
import { paintDiffLine } from '../show-diff.ts';
import type { Terminal } from '../terminal.ts';
import type { Asker } from './asker.ts';
import { editInEditor } from './edit-in-editor.ts';

/** Asks at the terminal of a command; the terminal must have `canAsk`. A text of several lines is edited in the person's editor. */
export function terminalAsker(terminal: Terminal, signal: AbortSignal): Asker {
  return {
    show(lines) {
      const painted = lines.map((line) => `    ${paintDiffLine(line, terminal.errorColors)}\n`);
      terminal.printError(painted.join(''));
    },
    suggest: terminal.suggest,
    readLine: (prompt) => askLine(prompt, terminal, signal),
    editText: (text) => editInEditor(text, process.env, signal),
    hidesProblems: true,
  };
}
