/**
 * Returns the name of a swarm. Without a stored name it uses the id of the workspace: a name, without the hash of the
 * bundle's folder.
 */
export function nameOf(workspaceId: string, swarm: string | undefined): string {
  return swarm ?? workspaceId.replace(/(?<=.)-[0-9a-f]{16}$/, '');
}
