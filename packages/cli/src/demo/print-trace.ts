import { type ChainRecord, renderTrace } from '@goondan/runtime';
import type { Terminal } from '../terminal.ts';

const legend =
  'Outer layers hold inner ones. own: its own time · ~ changed on the way in · ← on the way out · + message event';

export function printTrace(trace: ChainRecord, { print, colors }: Terminal): void {
  const styles = { kind: colors.cyan, name: colors.bold, time: colors.dim, change: colors.yellow, error: colors.red };
  print(`\n${colors.dim(legend)}\n${renderTrace(trace, { paint: (style, text) => styles[style](text) })}\n`);
}
