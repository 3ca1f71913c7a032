/** `gdn cluster dev --kill-one`: kills the node that answers a question, and shows that another node goes on. */
import type { Swarm, SwarmNotice } from '@goondan/runtime';
import { sleep, systemClock } from '@goondan/runtime/internal';
import { GoondanError, textOf } from '@goondan/types';
import { type ExitCode, exitCodes } from '../../exit-codes.ts';
import { harmlessLines } from '../../harmless-text.ts';
import { reportTurnError } from '../../report-error.ts';
import type { PreparedRun } from '../../run/prepare-run.ts';
import { attachSwarm } from '../../swarm/attach-swarm.ts';
import type { Terminal } from '../../terminal.ts';
import type { ClusterAccess } from '../cluster-access.ts';
import type { NodeProcess } from './node-process.ts';

export interface Demonstration {
  readonly access: ClusterAccess;
  readonly run: PreparedRun;
  readonly nodes: readonly NodeProcess[];
  readonly input: string | undefined;
}

const QUESTION = 'Tell me a long story about a lighthouse, please.';
const LOOK_MS = 50;

/** Returns the exit code: `ok` only if a node was killed and another one answered. */
export async function killOne(
  { access, run, nodes, input = QUESTION }: Demonstration,
  terminal: Terminal,
  signal: AbortSignal,
): Promise<ExitCode> {
  const swarm = await attachSwarm({ cluster: access, workspaceId: run.key });
  if (swarm === undefined) throw new GoondanError('E_CONTROL_CLOSED', 'No node answers.');
  const began = systemClock.elapsed();
  const tell = (text: string) => {
    const seconds = ((systemClock.elapsed() - began) / 1_000).toFixed(1);
    terminal.print(`${seconds.padStart(6)} s  ${text}\n`);
  };
  tell(`asked: ${harmlessLines(input)}`);
  let isOver = false;
  const running = Promise.withResolvers<void>();
  const onNotice = (notice: SwarmNotice) => {
    if (notice.type === 'runtime.event' && notice.name === 'turn.started') running.resolve();
  };
  const answer = swarm.ask({ input, client: 'gdn' }, { signal, onNotice }).finally(() => {
    isOver = true;
    running.resolve();
  });
  // The turn may fail while this function looks for its node; `await answer` reports it.
  answer.catch(() => undefined);
  const hasEnded = () => isOver || signal.aborted;
  // The node is known while the agent starts, so that nothing has to be looked up once the turn runs.
  const first = await findOwner(swarm, hasEnded);
  await running.promise;
  const killed = isOver ? undefined : nodes.find(({ name }) => name === first);
  if (killed === undefined) {
    await answer;
    const suggestion = 'Ask for something that takes some seconds, with `--input TEXT`.';
    throw new GoondanError('E_USAGE', 'The turn ended before its node could be killed.', { suggestion });
  }
  tell(`${killed.name} runs the turn`);
  killed.kill();
  await killed.ended;
  tell(`${killed.name} was killed`);
  const second = await findOwner(swarm, hasEnded, killed.name);
  if (second !== undefined) tell(`${second} goes on with the turn`);
  const { result } = await answer;
  const { finishReason, error = { message: 'The turn failed.' }, responseMessage } = result;
  if (finishReason === 'error') return reportTurnError(error, terminal);
  tell(`answered${second === undefined ? '' : ` by ${second}`}: ${harmlessLines(textOf(responseMessage))}`);
  return exitCodes.ok;
}

/** Returns the node of the conversation, other than `except`; `undefined` when `isOver` returns true first. */
async function findOwner(swarm: Swarm, isOver: () => boolean, except?: string): Promise<string | undefined> {
  while (!isOver()) {
    const { instances } = await swarm.status();
    const owned = instances.find(({ queued, node }) => queued > 0 && node !== undefined && node !== except);
    if (owned !== undefined) return owned.node;
    await sleep(systemClock, LOOK_MS);
  }
  return undefined;
}
