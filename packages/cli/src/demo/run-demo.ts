/**
 * `gdn demo`: asks the swarm in `packages/cli/demo` one question, and shows the path of the answer through every layer.
 */
import type { AskOptions } from '@goondan/runtime';
import { type ChainRecord, openStoreReader, type TurnTrace } from '@goondan/runtime/history';
import { GoondanError } from '@goondan/types';
import { withDesk } from '../question/with-desk.ts';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { printJson } from '../print-json.ts';
import { askForReport } from '../run/ask-for-report.ts';
import { exitAfter, type TurnReport } from '../run/turn-report.ts';
import type { Terminal } from '../terminal.ts';
import { printTrace } from '../trace/print-trace.ts';
import { typedGdn } from '../typed-gdn.ts';
import { printAnswer } from './print-answer.ts';
import { type DemoSwarm, startDemoSwarm } from './start-demo-swarm.ts';

/** The output of `gdn demo --json`. Fields may be added, but are never renamed. */
export interface DemoRun extends TurnReport {
  /**
   * The chain of the turn. The turn of a called agent is in the field `called` of the tool call that caused it. Absent
   * when nothing was recorded, because of `GOONDAN_TRACE=off`.
   */
  readonly trace: ChainRecord | undefined;
}

/** How long the processes of a cancelled turn may take to write their records. */
const CANCELLED_GRACE_MS = 2_000;

/** Runs the demo, then removes every file it created. **Errors** — those of `startDemoSwarm` and `askForReport`. */
export async function runDemo(
  { input, json }: { readonly input: string; readonly json: boolean },
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const answer = json ? undefined : printAnswer(input, terminal);
  const demo = await startDemoSwarm(terminal, signal);
  try {
    const onNotice: AskOptions['onNotice'] = (notice) => notice.type === 'delta' && answer?.stream(notice.delta);
    const report = await withDesk(deskOf(demo), terminal, (_desk, onAccepted) =>
      askForReport(demo.control, { input }, { signal, onNotice, onAccepted }),
    );
    answer?.end(report.response);
    // Stops the swarm before reading the records, because they are complete only then.
    await demo.control.stop(signal.aborted ? { graceMs: CANCELLED_GRACE_MS } : {});
    const turn = await readRecorded(demo, report.turnId);
    if (json) printJson({ ...report, trace: turn?.chain } satisfies DemoRun, terminal);
    else showTrace(turn, terminal);
    const code = exitAfter(report, terminal);
    if (!json && code === exitCodes.ok) tellNext(terminal);
    return code;
  } finally {
    await demo.remove();
  }
}

/** If no person can be asked, calls are denied, because a demo must not wait. Ctrl-C cancels the turn at once. */
function deskOf({ control }: DemoSwarm) {
  const refusal = 'No person can be asked here; run the demo at a terminal to answer.';
  return { swarm: control, options: [], refusal };
}

/** Returns undefined when nothing was recorded, because tracing may be turned off. */
async function readRecorded(place: DemoSwarm, turnId: string): Promise<TurnTrace | undefined> {
  try {
    const { turns } = await openStoreReader(place).traces.read(turnId);
    return turns[0];
  } catch (error) {
    if (GoondanError.is(error) && error.code === 'E_TRACE_UNKNOWN') return undefined;
    throw error;
  }
}

function showTrace(turn: TurnTrace | undefined, terminal: Terminal): void {
  if (turn === undefined) return terminal.printError('\nNothing was recorded of it: GOONDAN_TRACE is off.\n');
  terminal.print('\n');
  printTrace([turn], terminal, { hasHeads: false });
}

function tellNext({ printError, errorColors }: Terminal): void {
  printError(`\n${errorColors.dim(`Make it yours: ${typedGdn()} init my-swarm --template demo`)}\n`);
}
