/**
 * Warns of an agent that a stranger could make give away private data: it reads private data and the text of strangers, it
 * can send data away, and neither a person nor a list of hosts stops it. Only the parts of the base library are known.
 */
import { mergeConfig } from '../../merge-config.ts';
import { APPROVAL_EXTENSION, BASE_LIBRARY } from '../base-library.ts';
import type { LoadedResourceOf, Scope } from '../bundle.ts';
import { type Finding, warningIn } from '../bundle-problem.ts';
import { findResource, type FoundResource, resourcesOf } from '../find-resource.ts';
import { configOf, type ListItem, referenceOf } from '../references.ts';
import { rulesOf, swarmOf } from '../swarm-of.ts';

/** With all of these, an agent is exposed. */
const needed = ['reads private data', 'reads text of strangers', 'can send data away'] as const;

type Ability = (typeof needed)[number];

const abilities: Readonly<Record<string, readonly Ability[]>> = {
  'Tool/bash': ['reads private data', 'can send data away'],
  'Tool/file-system': ['reads private data'],
  'Tool/http-fetch': ['reads text of strangers', 'can send data away'],
  // A list of hosts leaves no way to a stranger.
  'Tool/http-fetch with only': ['reads text of strangers'],
  'Extension/mcp': ['reads text of strangers', 'can send data away'],
  'Connector/http': ['reads text of strangers'],
  'Connector/openai': ['reads text of strangers'],
  'Connector/webhook': ['reads text of strangers'],
};

export function* checkExposure(scope: Scope): Generator<Finding> {
  for (const swarm of resourcesOf(scope, 'Swarm')) {
    const shared = partsOf(scope, 'Extension', swarm.resource.spec.extensions);
    for (const item of swarm.resource.spec.agents) {
      const agent = findResource(scope, 'Agent', referenceOf(item));
      if (agent === undefined) continue;
      const { tools, extensions } = agent.loaded.resource.spec;
      const parts = [
        ...partsOf(agent.scope, 'Tool', tools),
        ...partsOf(agent.scope, 'Extension', extensions),
        ...shared,
        ...connectorsOf(scope, swarm, agent.loaded),
      ];
      if (parts.includes(`Extension/${APPROVAL_EXTENSION.name}`)) continue;
      const found = needed.map((ability) => [ability, listNames(parts, ability)] as const);
      if (found.some(([, names]) => names === '')) continue;
      const exposed = found.map(([ability, names]) => `${ability} (${names})`).join(', ');
      const message = `It ${exposed}, and no person approves its calls.`;
      yield warningIn(agent.loaded, ['spec'], 'E_AGENT_UNGUARDED', message, undefined, 'key');
    }
  }
}

function listNames(parts: readonly string[], ability: Ability): string {
  return [...new Set(parts.filter((part) => abilities[part]?.includes(ability)))].join(', ');
}

/** Names the parts of the base library in a list. */
function partsOf(scope: Scope, kind: 'Tool' | 'Extension', items: readonly ListItem[] = []): string[] {
  return items.flatMap((item) => {
    const found = findResource(scope, kind, referenceOf(item));
    const { only } = mergeConfig(found?.loaded.resource.spec.config ?? {}, configOf(item));
    return nameOf(found).map((name) => (only === undefined ? name : `${name} with only`));
  });
}

/** Names the connectors of the base library whose events the agent gets. */
function connectorsOf(
  scope: Scope,
  swarm: LoadedResourceOf<'Swarm'>,
  agent: LoadedResourceOf<'Agent'>,
): readonly string[] {
  const connections = resourcesOf(scope, 'Connection').filter((loaded) => swarmOf(scope, loaded)?.loaded === swarm);
  return connections.flatMap((connection) => {
    const isForAgent = rulesOf(connection).some(({ route }) => {
      const written = route.agentRef ?? swarm.resource.spec.entryAgent;
      return findResource(scope, 'Agent', written)?.loaded === agent;
    });
    return isForAgent ? nameOf(findResource(scope, 'Connector', connection.resource.spec.connectorRef)) : [];
  });
}

function nameOf(found: FoundResource<'Tool' | 'Extension' | 'Connector'> | undefined): readonly string[] {
  return found?.scope.package === BASE_LIBRARY ? [found.loaded.identity] : [];
}
