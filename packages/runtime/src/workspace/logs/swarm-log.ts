/**
 * `logs/swarm.jsonl` of a workspace: what agents, connectors and the orchestrator logged, and what processes printed, as
 * one JSON object a line. Bounded like every file for people (`StoreLimits.logs`); nobody waits for it.
 */
import { join } from 'node:path';
import type { JsonObject } from '@goondan/types';
import { type Clock, systemClock } from '../../ports/clock.ts';
import { type Fs, systemFs } from '../../ports/fs.ts';
import type { LogLine } from '../../ports/log-line.ts';
import { openRuntimeEvents } from '../archive/runtime-events.ts';
import type { JournalLocation } from '../journal/instance-slots.ts';
import { workspaceFolder } from '../layout/instance-paths.ts';
import { makeFolders } from '../layout/make-folders.ts';
import { defaultLimits, type RotationLimits } from '../limits.ts';
import { GatheredLog } from '../lines/gathered-log.ts';

export interface SwarmLog {
  /** Never throws, never waits. */
  write(line: LogLine): void;
  /** Writes what still waits. */
  close(): Promise<void>;
}

export interface SwarmLogPlace extends JournalLocation {
  readonly fs?: Fs;
  readonly clock?: Clock;
  readonly limits?: RotationLimits;
}

/** `report` hears, once for each time, that lines cannot be written. */
export function openSwarmLog(place: SwarmLogPlace, report: (problem: string) => void): SwarmLog {
  const { stateRoot, workspaceId, fs = systemFs, clock = systemClock, limits = defaultLimits.logs } = place;
  const path = swarmLogPath(place);
  const log = new GatheredLog({
    clock,
    report,
    async open() {
      await makeFolders(fs, stateRoot, join(workspaceFolder(stateRoot, workspaceId), 'logs'));
      return openRuntimeEvents(fs, path, limits);
    },
    noteOf: (count, time) => ({ time, level: 'warn', message: `${count} lines were let go.`, event: 'log.dropped' }),
  });
  return {
    // A line is JSON: the codec saw to those of children, and ours are texts.
    write: (line) => log.add(line as unknown as JsonObject),
    close: () => log.close(),
  };
}

export function swarmLogPath({ stateRoot, workspaceId }: JournalLocation): string {
  return join(workspaceFolder(stateRoot, workspaceId), 'logs', 'swarm.jsonl');
}
