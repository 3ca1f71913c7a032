/** Copies the states of extensions for a trial, so that a part on trial sees the states that it will have. */
import type { AgentAddress, JsonValue } from '@goondan/types';
import type { DeclaredAgent } from '../../config/declared-agent.ts';
import { channelLimits } from '../../ipc/limits.ts';
import type { Store } from '../../store/store.ts';
import type { Instances } from '../instances/instances.ts';
import type { Report } from '../instances/swarm-listener.ts';

export interface CopyStatesDeps {
  readonly instances: Pick<Instances, 'known' | 'find'>;
  readonly store: {
    readonly history: Pick<Store['history'], 'read'>;
    readonly directory: Pick<Store['directory'], 'lastUsed'>;
  };
  readonly report: Report;
}

/** The number of sleeping instances among which the last used one is searched. */
const MOST_SEARCHED = 1_000;

/** The size of all copied states in bytes. The other half of a message is left for the plan. */
const MOST_BYTES = channelLimits.longestFile / 2;

/**
 * Returns the committed states of the agent's extensions in one instance: one with a process, or else the one that was
 * used last. Takes no lock. Returns no states if the agent has no instance, or its instance cannot be read. A state that
 * does not fit is left out.
 */
export async function copyStates(
  { agentName, extensions = [] }: Pick<DeclaredAgent, 'agentName' | 'extensions'>,
  { instances, store, report }: CopyStatesDeps,
): Promise<Readonly<Record<string, JsonValue>>> {
  const own = [...instances.known()].filter((address) => address.agentName === agentName);
  const isAwake = (address: AgentAddress) => instances.find(address)?.hasProcess === true;
  const chosen = own.find(isAwake) ?? (await store.directory.lastUsed(own.slice(-MOST_SEARCHED)));
  if (chosen === undefined) return {};
  try {
    const { extensionState } = await store.history.read(chosen);
    const names = new Set(extensions.map(({ resource }) => resource.metadata.name));
    const { fitting, tooLong } = splitBySize(Object.entries(extensionState).filter(([name]) => names.has(name)));
    if (tooLong.length > 0) {
      const message = `The trial begins without states that are too long to be copied: ${tooLong.join(', ')}.`;
      report('warn', 'swarm.reload_states', message, chosen);
    }
    return Object.fromEntries(fitting);
  } catch {
    // A damaged conversation is reported when it is used. It must not prevent the reload.
    return {};
  }
}

function splitBySize(states: readonly [name: string, state: JsonValue][]) {
  let bytes = 0;
  const fitting: [name: string, state: JsonValue][] = [];
  const tooLong: string[] = [];
  for (const [name, state] of states) {
    const size = Buffer.byteLength(JSON.stringify([name, state]));
    if (bytes + size > MOST_BYTES) {
      tooLong.push(name);
      continue;
    }
    bytes += size;
    fitting.push([name, state]);
  }
  return { fitting, tooLong };
}
