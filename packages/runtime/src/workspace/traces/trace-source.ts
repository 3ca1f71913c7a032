/** The recorded turns of a swarm, wherever they are kept. Names of turns are described in `trace-names.ts`. */
import { codedFs } from '../../ports/coded-fs.ts';
import { systemFs } from '../../ports/fs.ts';
import type { TraceLine } from '../../trace/trace-lines.ts';
import type { TurnSummary } from '../../trace/turn-trace.ts';
import { workspaceFolder, type StorePlace } from '../layout/instance-paths.ts';
import { pathSegment } from '../layout/path-segment.ts';
import { readTraceLines, readTraceSummary } from './read-trace-file.ts';
import { type KeptTrace, listTraces, type readTraceName } from './trace-names.ts';

export interface TraceSource {
  /** Lists the recorded turns, newest first. **Errors** — `E_STORE_READ`. */
  list(wanted?: WantedTurns): AsyncIterable<RecordedTurn>;
}

/** The turns to list. All fields that are present must match. */
export interface WantedTurns {
  /** The list may have turns of other agents with a similar name. */
  readonly agentName?: string;
  /** The trace id as a path segment. */
  readonly trace?: string;
  /** The turn ids as path segments. */
  readonly turns?: readonly string[];
}

/** A recorded turn, and the parts of its name. */
export interface RecordedTurn extends NonNullable<ReturnType<typeof readTraceName>> {
  /** Reads at least the first and the last lines. Returns `undefined` when the trace was deleted or has no beginning. */
  summary(): Promise<TurnSummary | undefined>;
  lines(): Promise<readonly TraceLine[]>;
}

/** Returns the traces in the files of a workspace. The files are listed once. */
export function traceFiles({ fs: given = systemFs, stateRoot, workspaceId }: StorePlace): TraceSource {
  const fs = codedFs(given);
  const workspace = workspaceFolder(stateRoot, workspaceId);
  let listed: { readonly agentName: string | undefined; readonly files: Promise<KeptTrace[]> } | undefined;
  const listOf = (agentName: string | undefined) => {
    const isWanted = (instance: string) => agentName === undefined || instance.startsWith(`${pathSegment(agentName)}~`);
    if (listed === undefined || listed.agentName !== agentName)
      listed = { agentName, files: listTraces(fs, workspace, isWanted) };
    return listed.files;
  };
  return {
    async *list({ agentName, trace, turns } = {}) {
      for (const { pieces, ...name } of await listOf(agentName)) {
        if (trace !== undefined && name.trace !== trace) continue;
        if (turns !== undefined && !turns.includes(name.turn)) continue;
        yield {
          ...name,
          summary: () => readTraceSummary(fs, pieces),
          lines: () => readTraceLines(fs, pieces),
        };
      }
    },
  };
}

export async function collectTurns(turns: AsyncIterable<RecordedTurn>): Promise<RecordedTurn[]> {
  const collected: RecordedTurn[] = [];
  for await (const turn of turns) collected.push(turn);
  return collected;
}
