/** Everything behind `gdn replay`: finds the turn, asks whether the bundle's code may run, and replays it. */
import { type ExtensionChanges, readRecording, replayRecording, type ReplayReport } from '@goondan/runtime/history';
import { GoondanError } from '@goondan/types';
import { withJournal } from '../instance/with-journal.ts';
import { mayStart, prepareRun, type RunRequest } from '../run/prepare-run.ts';
import type { Terminal } from '../terminal.ts';

export interface ReplayRequest extends RunRequest, Required<ExtensionChanges> {
  /** The latest when absent. */
  readonly turn?: string;
}

/** **Errors** — those of `prepareRun`, `readRecording`, `mayStart` and `replayRecording`. */
export async function replayTurn(
  { turn, swap, without, ...request }: ReplayRequest,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ReplayReport> {
  const run = await prepareRun({ ...request, connections: false }, terminal);
  const kept = await withJournal(run, undefined, (journal) => readRecording(run, journal, turn));
  if (kept === undefined) throw new GoondanError('E_TRACE_UNKNOWN', 'There are no recorded turns.');
  // Last: nobody should be asked about what cannot be replayed.
  // No key is needed where nobody is asked.
  const { plan } = await mayStart(run, terminal, signal, true);
  return replayRecording({ plan, kept, swap, without, signal });
}
