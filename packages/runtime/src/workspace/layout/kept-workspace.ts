/** The place of the files of format 1 that a migration keeps. It has the shape of a state root, for an older version. */
import { type JournalLocation, workspaceFolder } from './instance-paths.ts';

const KEPT = '/format-1';

/** Returns the folder of the old files, which has the shape of a state root. */
export function keptFolder(stateRoot: string): string {
  return `${stateRoot}${KEPT}`;
}

/** Returns the state root whose old files are in this one, if its name is that of such a folder. */
export function rootAbove(stateRoot: string): string | undefined {
  return stateRoot.endsWith(KEPT) ? stateRoot.slice(0, -KEPT.length) : undefined;
}

/** Returns the folder of the old files of one workspace. */
export function keptWorkspace({ stateRoot, workspaceId }: JournalLocation): string {
  return workspaceFolder(keptFolder(stateRoot), workspaceId);
}
