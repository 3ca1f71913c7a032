/**
 * What a swarm is called. Of one whose name was not kept there is the id of its workspace: a name, and a hash of where its
 * bundle is, which says nothing to anybody.
 */
export function nameOf(workspaceId: string, swarm: string | undefined): string {
  return swarm ?? workspaceId.replace(/(?<=.)-[0-9a-f]{16}$/, '');
}
