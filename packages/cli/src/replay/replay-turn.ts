/** Does the work of `gdn replay`: finds the turn, asks for trust, and replays it. */
import { type ExtensionChanges, replayRecording, type ReplayReport } from '@goondan/runtime/history';
import type { SwarmPlan } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import { withStore } from '../instance/with-store.ts';
import { openBundle } from '../bundle/open-bundle.ts';
import { type PreparedRun, resolveTrustedPlan, prepareRun, type RunRequest } from '../run/prepare-run.ts';
import type { Terminal } from '../terminal.ts';

export interface ReplayRequest extends RunRequest, Required<ExtensionChanges> {
  /** The turn to replay; the latest turn when absent. */
  readonly turn?: string;
  /** Folders with other versions of the bundle, for a turn that ran with more than one plan. */
  readonly also: readonly string[];
}

/** **Errors** — those of `prepareRun`, `TraceReader.readRecording`, `resolveTrustedPlan` and `replayRecording`. */
export async function replayTurn(
  { turn, swap, without, also, ...request }: ReplayRequest,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ReplayReport> {
  const run = await prepareRun({ ...request, connections: false }, terminal);
  const kept = await withStore(run.place, undefined, ({ traces }) => traces.readRecording(turn));
  if (kept === undefined) throw new GoondanError('E_TRACE_UNKNOWN', 'There are no recorded turns.');
  // Checked last, so that nobody is asked to trust a bundle for a turn that cannot be replayed. Keys may be missing,
  // because no model is called.
  const { plan } = await resolveTrustedPlan(run, terminal, signal, true);
  const otherPlans: SwarmPlan[] = [];
  for (const folder of also) otherPlans.push(await resolveOther(run, folder, terminal, signal));
  return replayRecording({ plan, otherPlans, kept, swap, without, signal });
}

/** Resolves another version of the bundle. Its code runs, so it needs trust, too. */
async function resolveOther(run: PreparedRun, folder: string, terminal: Terminal, signal: AbortSignal) {
  const bundle = await openBundle(folder, terminal);
  return (await resolveTrustedPlan({ ...run, bundle }, terminal, signal, true)).plan;
}
