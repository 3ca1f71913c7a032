/**
 * The folders beside a workspace while a backup is restored into it: the restored workspace until it is complete, and the
 * replaced one until the restored one has its name. A crash between the two renames leaves no workspace: then the next owner
 * puts the replaced one back. A killed restore leaves these folders, and the next owner removes them.
 */
import type { Fs } from '../../ports/fs.ts';
import { workspaceFolder } from './instance-paths.ts';

export function restoringFolder(stateRoot: string, workspaceId: string): string {
  return workspaceFolder(stateRoot, `.restoring-${workspaceId}`);
}

export function replacedFolder(stateRoot: string, workspaceId: string): string {
  return workspaceFolder(stateRoot, `.replaced-${workspaceId}`);
}

/** Puts the replaced workspace back, if there is no other one in its place. Durable when the promise resolves. */
export async function putReplacedBack(fs: Fs, stateRoot: string, workspaceId: string): Promise<void> {
  const workspace = workspaceFolder(stateRoot, workspaceId);
  const replaced = replacedFolder(stateRoot, workspaceId);
  if ((await fs.stat(workspace)) !== undefined || (await fs.stat(replaced)) === undefined) return;
  await fs.rename(replaced, workspace);
  await fs.syncFolder(workspaceFolder(stateRoot, '').slice(0, -1));
}

/**
 * Removes what an interrupted restore has left. Neither folder has conversations that are nowhere else. Only for the owner of
 * the workspace, which exists: a living restore owns it.
 */
export async function removeRestoreLeftovers(fs: Fs, stateRoot: string, workspaceId: string): Promise<void> {
  await fs.removeFolder(restoringFolder(stateRoot, workspaceId));
  await fs.removeFolder(replacedFolder(stateRoot, workspaceId));
}
