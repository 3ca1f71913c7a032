/** `gdn run --input`: one turn, then the end of whatever was started for it. */
import { type Delivery, randomIds, sleep, type SwarmControl, systemClock } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import { type ExitCode, exitCodes } from '../exit-codes.ts';
import { attachSwarm } from '../swarm/attach-swarm.ts';
import type { Terminal } from '../terminal.ts';
import { askOnce, goneCodes, type Question } from './ask-once.ts';
import { type PreparedRun, startRun } from './prepare-run.ts';

/** For a swarm that is just coming up, or on its way out, in another process. */
const PATIENCE_MS = 30_000;
const AGAIN_MS = 100;

/** **Errors** — those of `prepareRun`, `startRun` and `ask`. */
export async function runOnce(
  run: PreparedRun,
  delivery: Delivery,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const deadline = systemClock.elapsed() + PATIENCE_MS;
  // One id for all attempts: whoever has accepted it before it went away has accepted the same.
  const question = { delivery: { id: randomIds.next('event'), ...delivery }, json: run.json === true, signal };
  for (;;) {
    try {
      const running = await attachSwarm(run);
      // Somebody else's, who may be about to end it: what it has accepted by then waits for the next one.
      if (running !== undefined) return await askOnce(running, { ...question, asksAgain: true }, terminal);
      return await runAlone(run, question, terminal);
    } catch (error) {
      const isInBetween = !signal.aborted && isChanging(error);
      if (!isInBetween || systemClock.elapsed() > deadline) throw error;
    }
    await sleep(systemClock, AGAIN_MS);
  }
}

/** Another process is about to serve the workspace, or to leave it. */
function isChanging(error: unknown): boolean {
  return error instanceof GoondanError && ['E_SWARM_RUNNING', ...goneCodes].includes(error.code);
}

async function runAlone(run: PreparedRun, question: Question, terminal: Terminal) {
  const { signal } = question;
  const { control, graceMs } = await startRun(run, terminal, signal);
  try {
    const code = await askOnce(control, question, terminal);
    const isAtRest = await comeToRest(control, graceMs, signal);
    if (!isAtRest && !signal.aborted) terminal.printError(`warn: ${leftOver}\n`);
    return signal.aborted ? exitCodes.interrupted : code;
  } finally {
    await control.stop(signal.aborted ? { graceMs: 0 } : {});
  }
}

const leftOver = 'What was sent to other agents is not all handled; the next run goes on with it.';

/** What the turn has sent to other agents is handled too. False when it took too long, or nobody wants to wait. */
async function comeToRest(control: SwarmControl, graceMs: number, signal: AbortSignal): Promise<boolean> {
  const deadline = systemClock.elapsed() + graceMs;
  // An agent that does not start would be waited for in vain.
  while (control.status().instances.some(({ queued, problem }) => queued > 0 && problem === undefined)) {
    if (signal.aborted || systemClock.elapsed() > deadline) return false;
    await sleep(systemClock, AGAIN_MS / 4);
  }
  return true;
}
