import { existsSync, realpathSync } from 'node:fs';
import { join, sep } from 'node:path';
import { GoondanError } from '@goondan/types';
import { harmlessText } from '../harmless-text.ts';
import type { Terminal } from '../terminal.ts';
import type { OpenedStore } from './open-store.ts';

export interface ImportedFolder {
  /** The name of the swarm in the store. */
  readonly key: string;
  readonly folder: string;
  readonly stateRoot: string;
}

/**
 * Refuses to import a folder into the conversations of another one. Two bundles may have the same name, and are
 * one swarm in a store. If the recorded folder is not a bundle of this machine, it may be this one on another machine,
 * or its copy at a node; then a warning says so.
 *
 * **Errors** — `E_SWARM_TAKEN`; those of the store.
 */
export async function refuseOtherSwarm(
  store: Pick<OpenedStore, 'reader' | 'swarms'>,
  { key, folder, stateRoot }: ImportedFolder,
  terminal: Pick<Terminal, 'printError'>,
): Promise<void> {
  const recorded = (await store.reader(key).directory.swarm())?.folder;
  const own = realpathSync(folder);
  if (recorded === undefined || recorded === own) return;
  const listed = (await store.swarms.list()).find(({ workspaceId }) => workspaceId === key);
  if (listed === undefined || listed.instances === 0) return;
  const message = `The store has conversations of a swarm "${harmlessText(key)}" from the folder ${harmlessText(recorded)}, and this one is in ${harmlessText(own)}.`;
  const isHere = existsSync(join(recorded, 'goondan.yaml')) && !recorded.startsWith(realpathSync(stateRoot) + sep);
  if (isHere) throw new GoondanError('E_SWARM_TAKEN', message);
  terminal.printError(`warn: ${message} If these are two swarms, their conversations are one swarm from now on.\n`);
}
