/** What was recorded of turns, for whoever wants to see it: `gdn trace`, a page, a program. Running or not, no lock. */
import { GoondanError } from '@goondan/types';
import { type Fs, systemFs } from '../../ports/fs.ts';
import { assembleTrace } from '../../trace/assemble-trace.ts';
import type { TurnSummary, TurnTrace } from '../../trace/turn-trace.ts';
import { workspaceFolder, type JournalLocation } from '../layout/instance-paths.ts';
import { pathSegment } from '../layout/path-segment.ts';
import { codedFs } from '../../ports/coded-fs.ts';
import { findLatestTurn, findTrace } from './find-trace.ts';
import { listTraceFiles, type TraceFile } from './list-trace-files.ts';
import { readTraceFile, readTraceSummary } from './read-trace-file.ts';

export interface TracePlace extends JournalLocation {
  readonly fs?: Fs;
}

export interface ListTurnsOptions {
  /** At most so many; 20 when absent. */
  readonly last?: number;
  readonly agentName?: string;
  readonly instanceKey?: string;
}

/** The latest turns of a workspace, newest first. **Errors** — `E_STORE_READ`. */
export async function listTurns(place: TracePlace, options: ListTurnsOptions = {}): Promise<TurnSummary[]> {
  const { last = 20, agentName, instanceKey } = options;
  const { fs, files } = await open(place);
  const turns: TurnSummary[] = [];
  for (const { path } of files) {
    if (turns.length >= last) break;
    if (agentName !== undefined && !path.includes(`/${pathSegment(agentName)}~`)) continue;
    const turn = await readTraceSummary(fs, path);
    if (turn === undefined || (agentName ?? turn.agentName) !== turn.agentName) continue;
    if ((instanceKey ?? turn.instanceKey) === turn.instanceKey) turns.push(turn);
  }
  return turns;
}

export interface ReadTrace {
  readonly traceId: string;
  /** The turn that was asked for, or those of the trace that no other agent asked for; oldest first. */
  readonly turns: readonly TurnTrace[];
}

/** Turns of one trace; past it the newest are left out. */
const MOST_TURNS = 500;

/**
 * A turn, or all turns of a trace, with the turns of other agents inside the calls that asked for them.
 *
 * **Rules** — `id` is a turn's, a trace's, a turn's span's or its event's id, or the beginning of one that no other has.
 * Without one it is the latest turn that no other agent asked for.
 * **Errors** — `E_TRACE_UNKNOWN`; `E_TRACE_AMBIGUOUS` with what it may mean; `E_STORE_READ`.
 */
export async function readTurnTrace(place: TracePlace, id?: string): Promise<ReadTrace> {
  const { fs, files } = await open(place);
  const found = id === undefined ? await findLatestTurn(fs, files) : await findTrace(fs, files, id);
  const ofTrace = files.filter(({ trace }) => trace === found.trace).toReversed();
  const turns: TurnTrace[] = [];
  for (const { path } of ofTrace.slice(0, MOST_TURNS)) {
    const turn = await readTraceFile(fs, path);
    if (turn !== undefined) turns.push(turn);
  }
  const [first] = turns;
  const wanted = assembleTrace(turns, found.turn);
  // Its file may have gone since it was found.
  if (first === undefined || wanted.length === 0) {
    throw new GoondanError('E_TRACE_UNKNOWN', `The recording of "${id ?? 'last'}" is gone.`);
  }
  return { traceId: first.traceId, turns: wanted };
}

async function open({ fs = systemFs, stateRoot, workspaceId }: TracePlace): Promise<{ fs: Fs; files: TraceFile[] }> {
  const coded = codedFs(fs);
  return { fs: coded, files: await listTraceFiles(coded, workspaceFolder(stateRoot, workspaceId)) };
}
