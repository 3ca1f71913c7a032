import type { Swarm } from '@goondan/runtime';
import { GoondanError } from '@goondan/types';
import { attachSwarm } from '../../swarm/attach-swarm.ts';
import type { SwarmPlace } from '../../swarm/swarm-place.ts';
import { findStartCommand } from '../start-anywhere.ts';
import type { StudioHost } from '../studio-host.ts';

/** The maximum time to wait for the swarm before the page gets an error. */
export const SILENCE_MS = 20_000;

/** Connects to the swarm of a workspace. **Errors** — `E_CONTROL_CLOSED`, with the command that starts the swarm, if it is known. */
export async function reachWorkspace(host: StudioHost, place: SwarmPlace): Promise<Swarm> {
  const swarm = await attachSwarm(place, { silenceMs: SILENCE_MS });
  if (swarm !== undefined) return swarm;
  throw await notRunning(host, place);
}

export async function notRunning(host: StudioHost, place: SwarmPlace): Promise<GoondanError> {
  const command = await findStartCommand(host, place);
  const suggestion = command === undefined ? {} : { suggestion: `Start it with \`${command}\`, then try again.` };
  return new GoondanError('E_CONTROL_CLOSED', 'The swarm is not running.', suggestion);
}
