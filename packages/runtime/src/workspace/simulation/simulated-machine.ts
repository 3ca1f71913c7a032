/** The ports of one life of a machine. All processes of earlier lives are dead, and the clock continues. */
import type { Clock } from '../../ports/clock.ts';
import type { Fs } from '../../ports/fs.ts';
import type { Processes } from '../../ports/processes.ts';
import { defaultLimits, type StoreLimits } from '../limits.ts';
import type { StorePorts, StoreWarning } from '../store-ports.ts';

export const simulatedLocation = { stateRoot: '/state', workspaceId: 'simulation' };

/** Limits that are low enough for a workload to reach every one of them. */
export const simulatedLimits: StoreLimits = {
  ...defaultLimits,
  inboxCompactionBytes: 300,
  queueCompactionLines: 2,
  archive: { bytes: 3000, files: 1000 },
  checkpointBytes: 500,
  shortBaseBytes: 800,
  logRoom: { first: 512, most: 1024 },
};

export interface SimulatedMachine extends StorePorts {
  readonly warnings: readonly StoreWarning[];
}

/** `writeMs`: the time that a write to the disk takes. A disk on which it takes several milliseconds is slow. */
export function simulatedMachine(fs: Fs, life: number, writeMs = 1): SimulatedMachine {
  const warnings: StoreWarning[] = [];
  return {
    fs,
    clock: simulatedClock(life, writeMs),
    processes: simulatedProcesses(life),
    warn: (w) => warnings.push(w),
    warnings,
  };
}

function simulatedClock(life: number, writeMs: number): Clock {
  let elapsed = 0;
  return {
    now: () => new Date(Date.UTC(2026, 0, 1 + life) + ++elapsed),
    elapsed: () => (elapsed += writeMs),
    after: () => () => undefined,
  };
}

function simulatedProcesses(life: number): Processes {
  const self = { pid: 1000 + life, startedAt: `life ${life}` };
  return { self: () => self, isAlive: ({ pid }) => pid === self.pid };
}
