/** Opens the screen that fits the terminal of this process. */
import { createInterface } from 'node:readline';
import { systemClock } from '@goondan/runtime/internal';
import { PIPED } from '../fit-width.ts';
import type { Terminal } from '../terminal.ts';
import type { ChatScreen, ScreenHooks } from './screen/chat-screen.ts';
import { LiveScreen } from './screen/live-screen.ts';
import { PlainScreen } from './screen/plain-screen.ts';
import { processTty } from './screen/process-tty.ts';

export function openScreen(hooks: ScreenHooks, terminal: Terminal): ChatScreen {
  const { colors, columns = PIPED, print: write } = terminal;
  if (process.env['TERM'] === 'dumb') return new PlainScreen(hooks, { write, columns, colors, readLines });
  return new LiveScreen(hooks, { tty: processTty(), colors, clock: systemClock });
}

function readLines(onLine: (text: string) => void, onEnd: () => void): () => void {
  // Without the option `output`, readline does not change the mode of the terminal, so Ctrl-C works as usual.
  const lines = createInterface({ input: process.stdin });
  lines.on('line', onLine);
  lines.on('close', onEnd);
  return () => {
    lines.off('close', onEnd);
    lines.close();
  };
}
