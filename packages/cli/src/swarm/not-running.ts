import { GoondanError } from '@goondan/types';
import type { BundleOptions } from '../common-options.ts';
import { startCommand } from './start-command.ts';
import type { SwarmPlace } from './swarm-place.ts';

/** The number of nodes in an error message. */
const MOST_NAMED = 5;

/** Returns the error for a swarm that does not run; for a store, it also tells of nodes that do not answer. */
export async function notRunning(
  place: SwarmPlace & { readonly swarm: string },
  options: BundleOptions,
  whenGone?: string,
): Promise<GoondanError> {
  const { swarm } = place;
  const suggestion = whenGone ?? `Start it with \`${startCommand(options)}\`, then type this command again.`;
  if (place.cluster === undefined) {
    return new GoondanError('E_CONTROL_CLOSED', `Swarm "${swarm}" is not running.`, { suggestion });
  }
  const nodes = await (await place.cluster.open()).nodes(place.workspaceId);
  if (nodes.length === 0) {
    return new GoondanError('E_CONTROL_CLOSED', `No node of swarm "${swarm}" is running.`, { suggestion });
  }
  const named = nodes.slice(0, MOST_NAMED).map(({ name, control }) => `${name} (${control?.address ?? 'no port'})`);
  const more = nodes.length > MOST_NAMED ? ` and ${nodes.length - MOST_NAMED} more` : '';
  return new GoondanError('E_CONTROL_CLOSED', `No node of swarm "${swarm}" answers: ${named.join(', ')}${more}.`, {
    suggestion:
      'A node listens on its own machine only, unless it was started with `--listen HOST:PORT`. A node that died is listed until its lease ends.',
  });
}
