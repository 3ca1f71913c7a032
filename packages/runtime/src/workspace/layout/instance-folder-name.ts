import { pathSegment } from './path-segment.ts';

/**
 * The folder of one agent instance: `<agent>~<key>`, with a hash where the key is not safe in a path. `~` is in no
 * segment, so agent and key cannot run into each other.
 *
 * @example instanceFolderName('coder', 'default') // 'coder~default'
 */
export function instanceFolderName(agentName: string, instanceKey: string): string {
  return `${pathSegment(agentName)}~${pathSegment(instanceKey)}`;
}
