/**
 * Returns the name of a swarm. If no name is stored, it takes the name from the workspace id, without the hash of the
 * bundle's folder.
 */
export function nameOf(workspaceId: string, swarm: string | undefined): string {
  return swarm ?? workspaceId.replace(/(?<=.)-[0-9a-f]{16}$/, '');
}
