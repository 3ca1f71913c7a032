import { pathSegment } from './path-segment.ts';

/**
 * Returns the name of an instance's folder: `<agent>~<key>`, with a hash if the key is not safe in a path. Neither part
 * contains `~`, so two instances never share a name.
 *
 * @example instanceFolderName('coder', 'default') // 'coder~default'
 */
export function instanceFolderName(agentName: string, instanceKey: string): string {
  return `${pathSegment(agentName)}~${pathSegment(instanceKey)}`;
}
