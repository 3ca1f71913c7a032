/**
 * The workspace that a restore replaces. It waits beside its place until the restored one has its name. A crash between the
 * two renames leaves no workspace: then the next owner puts the replaced one back.
 */
import type { Fs } from '../../ports/fs.ts';
import { workspaceFolder } from './instance-paths.ts';

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
