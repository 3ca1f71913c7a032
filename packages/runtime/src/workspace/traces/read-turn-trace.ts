/** Reads recorded turns, for `gdn trace`, Studio or a program. Takes no lock, so it also works while the swarm runs. */
import { GoondanError } from '@goondan/types';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { assembleTrace } from '../../trace/assemble-trace.ts';
import type { TurnSummary, TurnTrace } from '../../trace/turn-trace.ts';
import { workspaceFolder, type StorePlace } from '../layout/instance-paths.ts';
import { pathSegment } from '../layout/path-segment.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { findLatestTurn, findTrace } from './find-trace.ts';
import { type KeptTrace, listTraces } from './trace-names.ts';
import { readTrace, readTraceSummary } from './read-trace-file.ts';

export interface ListTurnsOptions {
  /** The maximum number of turns; 20 when absent. */
  readonly last?: number;
  readonly agentName?: string;
  readonly instanceKey?: string;
}

/** Lists the latest turns of a workspace, newest first. **Errors** — `E_STORE_READ`. */
export async function listTurns(place: StorePlace, options: ListTurnsOptions = {}): Promise<TurnSummary[]> {
  const { last = 20, agentName, instanceKey } = options;
  const isWanted = (instance: string) => agentName === undefined || instance.startsWith(`${pathSegment(agentName)}~`);
  const { fs, files } = await open(place, isWanted);
  const turns: TurnSummary[] = [];
  for (const { pieces } of files) {
    if (turns.length >= last) break;
    const turn = await readTraceSummary(fs, pieces);
    if (turn === undefined || (agentName ?? turn.agentName) !== turn.agentName) continue;
    if ((instanceKey ?? turn.instanceKey) === turn.instanceKey) turns.push(turn);
  }
  return turns;
}

export interface ReadTrace {
  readonly traceId: string;
  /** The requested turn, or the turns of the trace that were not requested by another agent; oldest first. */
  readonly turns: readonly TurnTrace[];
}

/** The maximum number of turns of one trace. If a trace has more, the newest turns are left out. */
const MOST_TURNS = 500;

/**
 * Reads a turn, or all turns of a trace. A turn that another agent requested is nested inside the call that requested
 * it.
 *
 * **Rules** — `id` is the id of a turn, a trace, a turn's span or its event, or a unique prefix of such an id. Without
 * an id, reads the latest turn that was not requested by another agent.
 * **Errors** — `E_TRACE_UNKNOWN`; `E_TRACE_AMBIGUOUS` with the candidates; `E_STORE_READ`.
 */
export async function readTurnTrace(place: StorePlace, id?: string): Promise<ReadTrace> {
  const { fs, files } = await open(place);
  const found = id === undefined ? await findLatestTurn(fs, files) : await findTrace(fs, files, id);
  const ofTrace = files.filter(({ trace }) => trace === found.trace).toReversed();
  const turns: TurnTrace[] = [];
  for (const { pieces } of ofTrace.slice(0, MOST_TURNS)) {
    const turn = await readTrace(fs, pieces);
    if (turn !== undefined) turns.push(turn);
  }
  const [first] = turns;
  const wanted = assembleTrace(turns, found.turn);
  // The file was found, but may have been deleted since.
  if (first === undefined || wanted.length === 0) {
    throw new GoondanError('E_TRACE_UNKNOWN', `The recording of "${id ?? 'last'}" is gone.`);
  }
  return { traceId: first.traceId, turns: wanted };
}

async function open(
  { fs = systemFs, stateRoot, workspaceId }: StorePlace,
  isWanted?: (instance: string) => boolean,
): Promise<{ fs: Fs; files: KeptTrace[] }> {
  const coded = codedFs(fs);
  return { fs: coded, files: await listTraces(coded, workspaceFolder(stateRoot, workspaceId), isWanted) };
}
