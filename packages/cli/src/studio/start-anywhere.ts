/** The command that starts a swarm, for the page of Studio: its readers may be in any folder and in any shell. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { stateRoot } from '@goondan/runtime/control';
import { openReader, type SwarmPlace } from '../swarm/swarm-place.ts';
import { startCommand } from '../swarm/start-command.ts';
import type { StudioHost } from './studio-host.ts';

interface Start {
  readonly folder: string;
  /** Absent when the bundle has only one swarm. */
  readonly swarm?: string | undefined;
  /** The value of `--store`. */
  readonly store?: string | undefined;
  /** Absent for a swarm in a store. */
  readonly stateRoot?: string | undefined;
}

/** Writes the command with absolute paths, and with the state root, unless it is the default one. */
export function startAnywhere({ folder, swarm, store, stateRoot: root }: Start): string {
  const isUsual = root === undefined || root === stateRoot({ home: homedir() });
  return startCommand({
    bundle: resolve(folder),
    ...(swarm === undefined ? {} : { swarm }),
    ...(store === undefined ? {} : { store }),
    ...(isUsual ? {} : { stateRoot: root }),
  });
}

/**
 * Returns the command for the swarm of a workspace: the swarm for which Studio was started, or the last one that ran
 * there. Returns `undefined` when its bundle is unknown or no longer exists; the swarm of a program has none.
 */
export async function findStartCommand(
  { opened }: Pick<StudioHost, 'opened'>,
  place: SwarmPlace,
): Promise<string | undefined> {
  if (opened?.workspaceId === place.workspaceId) return opened.startCommand;
  const { swarm, folder } = (await (await openReader(place)).directory.swarm()) ?? {};
  if (folder === undefined || !existsSync(join(folder, 'goondan.yaml'))) return undefined;
  const where = place.cluster === undefined ? { stateRoot: place.stateRoot } : { store: place.cluster.typed };
  // `gdn run` chooses the swarm "default" by itself.
  return startAnywhere({ folder, ...where, swarm: swarm === 'default' ? undefined : swarm });
}
