import type { DeclaredAgent, DeclaredAgents } from '@goondan/runtime/bundle';
import type { RecordedAgent } from '@goondan/runtime/internal';
import { explainDeclared, sourcesOf } from '../../explain/explain-agent.ts';
import { openReader, type SwarmPlace } from '../../swarm/swarm-place.ts';
import type { AgentView } from '../contract.ts';

/** The maximum number of agents shown. */
const MOST_SHOWN = 200;

/**
 * Lists the declared agents in order, then agents that exist only in recorded data. The layers and tools of each agent
 * come from the record of its last start. Before the first start, the layers are unknown, and the tools come from the
 * declaration of the agent and from `gdn mcp test`.
 */
export async function viewAgents(
  place: SwarmPlace,
  declared: DeclaredAgents | undefined,
  others: readonly string[],
): Promise<AgentView[]> {
  const { directory } = await openReader(place);
  const agents = new Map(declared?.agents.map((each) => [each.agentName, each]));
  const names = [...new Set([...agents.keys(), ...others])].slice(0, MOST_SHOWN);
  return Promise.all(
    names.map(async (name) => {
      const recorded = await directory.describe(name).catch(() => undefined);
      return { name, ...partsOf(agents.get(name), recorded), ...declaredOnly(agents.get(name), [...agents.keys()]) };
    }),
  );
}

function partsOf(
  declared: DeclaredAgent | undefined,
  recorded: RecordedAgent | undefined,
): Omit<AgentView, 'name' | 'model' | 'mayAsk'> {
  if (recorded !== undefined && recorded.neverStarted !== true) {
    const { tools, extensions, layers } = recorded;
    return { tools, ...sourcesOf(recorded, declared ?? {}), extensions, layers };
  }
  if (declared === undefined) return { tools: [], toolSources: [], unknownTools: [], extensions: [], layers: [] };
  const { agent: _agent, source: _source, ...parts } = explainDeclared(declared, recorded);
  return { ...parts, layers: [] };
}

/**
 * Returns the parts that only the bundle declares. Without `mayAsk`, an agent that has the tools to call others may call
 * every other agent of its swarm.
 */
function declaredOnly(
  declared: DeclaredAgent | undefined,
  names: readonly string[],
): Pick<AgentView, 'model' | 'mayAsk'> {
  if (declared === undefined) return {};
  const model = declared.modelRef ?? Object.keys(declared.models)[0];
  const askable = declared.mayAsk ?? (declared.agentTools === true ? names : []);
  const mayAsk = askable.filter((name) => name !== declared.agentName);
  return { ...(model !== undefined && { model }), mayAsk };
}
