/** The command that starts a swarm, for the page of Studio: its readers may be in any folder and in any shell. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { stateRoot } from '@goondan/runtime/control';
import { openStoreReader } from '@goondan/runtime/history';
import type { SwarmPlace } from '../swarm/attach-swarm.ts';
import { startCommand } from '../swarm/start-command.ts';
import type { StudioHost } from './studio-host.ts';

interface Start {
  readonly folder: string;
  /** Absent when the bundle has only one swarm. */
  readonly swarm?: string | undefined;
  readonly stateRoot: string;
}

/** Writes the command with absolute paths, and with the state root, unless it is the default one. */
export function startAnywhere({ folder, swarm, stateRoot: root }: Start): string {
  const isUsual = root === stateRoot({ home: homedir() });
  return startCommand({
    bundle: resolve(folder),
    ...(swarm === undefined ? {} : { swarm }),
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
  const { swarm, folder } = (await openStoreReader(place).directory.swarm()) ?? {};
  if (folder === undefined || !existsSync(join(folder, 'goondan.yaml'))) return undefined;
  // `gdn run` chooses the swarm "default" by itself.
  return startAnywhere({ folder, stateRoot: place.stateRoot, swarm: swarm === 'default' ? undefined : swarm });
}
