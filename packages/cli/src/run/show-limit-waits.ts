/** Tells on standard error that the turn waits for a limit of its model, at a terminal and in a pipe. */
import type { SwarmNotice } from '@goondan/runtime';
import { harmlessText } from '../harmless-text.ts';
import type { Terminal } from '../terminal.ts';
import { LimitWaits } from './limit-waits.ts';

/** How long a call waits before its wait is shown. */
const PATIENCE_MS = 1_000;

/** Prints a line to standard error for each wait that takes long. `beforeLine` is called before each line. */
export function showLimitWaits(
  { printError, errorColors }: Pick<Terminal, 'printError' | 'errorColors'>,
  beforeLine: () => void,
  patienceMs = PATIENCE_MS,
) {
  let waits: LimitWaits | undefined;
  let shown: { readonly text: string; readonly timer: NodeJS.Timeout } | undefined;
  const update = (text: string | undefined) => {
    if (text === shown?.text) return;
    clearTimeout(shown?.timer);
    shown = text === undefined ? undefined : { text, timer: setTimeout(() => show(text), patienceMs) };
  };
  const show = (text: string) => {
    beforeLine();
    printError(`${errorColors.dim(harmlessText(`The turn ${text} …`))}\n`);
  };
  return {
    hear(notice: SwarmNotice): void {
      if (notice.type !== 'runtime.event') return;
      waits ??= new LimitWaits(notice.at.agent);
      waits.hear(notice);
      update(waits.describe());
    },
    end: () => update(undefined),
  };
}
